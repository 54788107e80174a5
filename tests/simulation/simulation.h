#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulation/checker.h"
#include "simulation/planted_bug.h"

namespace leasehold::simulation {

// What came of one run.
struct SeedRun {
  std::uint64_t seed = 0;
  std::string faults;
  std::optional<Violation> violation;
  std::vector<std::string> trace;
  std::vector<std::string> decisions;  // The trace without what the wall clock did.
  std::string hash;                    // Of the trace.
};

// One seed, one run: chaos first, then everything heals, and all that is left has to come to an end.
//
// If the seed sets the wall clock, it runs once more without that, and every decision has to be the
// same (I16).
SeedRun simulate(std::uint64_t seed, PlantedBug bug = PlantedBug::none);

// For people: what was violated, and the last steps before it, or all of them.
std::string report(const SeedRun& run, bool whole_trace);

}  // namespace leasehold::simulation
