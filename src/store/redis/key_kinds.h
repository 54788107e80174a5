// Every kind of key there is: its type, how its values are read, and where its members lead. As a table, for
// those who examine all keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "store/redis/keys.h"

namespace leasehold::redis {

enum class ValueKind { none, document, lease, ticket, other };

struct KeyKind {
  std::string_view name;  // What the key's name begins with, behind the prefix.
  std::string_view type;
  bool (*is_value)(std::string_view) = nullptr;  // Of a string, or of each field of a hash.
  // Where a member of an index leads: the key that has to be there. `rest`: of the index's name.
  std::string (*leads)(const Keys&, std::string_view rest, const std::string& member) = nullptr;
  std::string_view what = {};  // What its values are.
  ValueKind value = ValueKind::none;
};

// Documents before leases: a lease that cannot be read may have a copy in one.
std::span<const KeyKind> key_kinds();

// Null: a name that this version does not use.
const KeyKind* kind_of(std::string_view name);

}  // namespace leasehold::redis
