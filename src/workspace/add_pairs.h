#pragma once

#include <span>
#include <vector>

#include "leasehold/calls.h"
#include "workspace/pairs.h"

namespace leasehold {

// Adds to a request what pairing found for it; `paths` must be what it was found for.
void add_pairs(std::vector<WantedPath>& paths, std::span<const PairedPath> pairs);

}  // namespace leasehold
