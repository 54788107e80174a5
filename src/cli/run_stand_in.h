// The process on which a lease hangs that several `lease run` have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leasehold/lease.h"

namespace leasehold {

// Starts a process that ends as soon as nobody runs under any of the leases with these marks (`RunMarks`)
// any more. A lease that hangs on it outlives each of them, and is free at once when the last one is killed.
// Nothing: it could not be started.
std::optional<Process> start_stand_in(const std::vector<std::string>& marks);

}  // namespace leasehold
