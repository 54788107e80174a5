#pragma once

#include "leasehold/calls.h"
#include "scenarios/verbs.h"

namespace leasehold::scenario {

// The request a step with OWNER PATH... and options makes.
AcquireRequest request_of(World& world, const Arguments& arguments);

}  // namespace leasehold::scenario
