// Who had what when, told again from history.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "leasehold/calls.h"
#include "leasehold/client.h"

namespace leasehold {

// One lease or wait, from the event that began it to the one that ended it.
struct Stay {
  LeaseId lease_id;
  std::string path;
  bool subtree = false;
  Mode mode{};
  Owner owner;
  std::string pr_id;
  Token token;
  bool waits = false;
  std::string reason;
  WallTime from;
  std::optional<WallTime> to;  // Nothing: it goes on.
  EndCause cause = EndCause::none;
};

// In the order they began. Events that came before the first of `events` are not known: what began then
// begins with the first word about it.
std::vector<Stay> stays(std::span<const Event> events);

// A lease whose time ran out ended then, though somebody noticed only later, or nobody yet. As far as the
// store still knows it: an hour.
Result<void> end_in_time(std::vector<Stay>& all, Client& client);

}  // namespace leasehold
