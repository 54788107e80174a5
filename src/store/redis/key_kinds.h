// Every kind of key there is: its type, and how its values are read. As a table, for those who examine all
// keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "store/redis/indexes.h"

namespace leasehold::redis {

// What is known from elsewhere: an index, and one whose members may outlive what they lead to.
enum class Role { record, index, loose_index, other };

struct KeyKind {
  std::string_view name;  // What the key's name begins with, behind the prefix.
  std::string_view type;
  Role role = Role::other;
  std::string_view what = {};  // What its values are.
  // Takes a value, of a string or of each field of a hash. `rest`: of the key's name. False: it is no such
  // value, or stands in another's place.
  bool (*learn)(Records& records, std::string_view rest, std::string_view field,
                std::string_view value) = nullptr;
};

// Null: a name that this version does not use.
const KeyKind* kind_of(std::string_view name);

}  // namespace leasehold::redis
