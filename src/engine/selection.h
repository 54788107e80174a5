#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// One lease a call is about: found, or named and not there.
struct Target {
  std::string name;  // As the caller named it: a path or an id.
  std::optional<Lease> lease;
};

// Exactly one way of naming leases must be used, and the names must be such as leases can have. Errors:
// invalid_argument, invalid_path, limit_exceeded (more names than paths_max).
Result<void> check_selection(const Selection& which, const Policy& policy);

// The caller's own leases, or waits, that a selection other than by id or path means. It narrows the look to
// the caller where the selection leaves that open; ownership is still to be asked for each.
Filter filter_of_own(const Caller& caller, const Selection& which);

// Those leases, as the store has them.
std::vector<Lease> own_leases(View& view, const Caller& caller, const Selection& which);

// What a selection reads, as far as it is known beforehand.
Footprint footprint_of(const std::string& workspace, const Owner& owner, const Selection& which);

// The leases a caller means. By id or path, each name gives at least one target, if only to say that
// there is none; the other ways give the caller's own active leases that match, by path.
std::vector<Target> select(View& view, const Caller& caller, const Selection& which);

// The active leases an operator means, whoever owns them.
std::vector<Target> select_of_anybody(View& view, const Selection& which);

}  // namespace leasehold
