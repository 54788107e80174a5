// The promise that everything else is for, looked at from outside.
#pragma once

#include <optional>
#include <utility>

#include "leasehold/calls.h"

namespace leasehold {

// Two leases that both count though they exclude each other: something took away what a store goes by.
// Nothing: there are none.
std::optional<std::pair<Lease, Lease>> held_twice(const Board& board);

}  // namespace leasehold
