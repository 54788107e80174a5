#pragma once

#include <optional>

#include "leasehold/calls.h"
#include "scenarios/verbs.h"

namespace leasehold::scenario {

// Which leases a step means: paths, `all`, id=, pr=, session= or agent=.
Selection selection_of(World& world, const Arguments& arguments);

// token=t1, or token=unknown for one that was never given.
std::optional<Token> token_of(World& world, const Arguments& arguments);

}  // namespace leasehold::scenario
