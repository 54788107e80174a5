#pragma once

#include <string>

#include "simulation/dice.h"

namespace leasehold::simulation {

// What may go wrong in one run. A random subset each time: with all of them at once, some would hide
// what others bring about.
struct Faults {
  bool lost_answers = false;   // A commit is made, and the caller is told outcome_unknown.
  bool lost_commits = false;   // A commit is not made, and the caller is told the same.
  bool outages = false;        // The store cannot be reached for a while.
  bool conflicts = false;      // Bodies run in vain before they run for good.
  bool lost_bells = false;     // A bell is rung and not heard.
  bool slow_requests = false;  // A caller is stopped between deciding to call and the call.
  bool slow_answers = false;   // The answer takes its time; its caller counts from before the call.
  bool crashes = false;        // Processes die, with what they had asked for still under way.
  bool blind_probe = false;    // For a while nobody can see whether a process lives.
  bool wall_steps = false;     // Somebody sets the wall clock, by hours or years, both ways.
  bool restarts = false;       // The service restarts on the same data.
  bool data_loss = false;      // The service restarts on no data at all.
};

Faults draw_faults(Dice& dice);

// For people: "lost_answers, restarts".
std::string describe(const Faults& faults);

}  // namespace leasehold::simulation
