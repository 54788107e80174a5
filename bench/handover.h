// Several processes at once: who gets a turn, and how soon after the last one gave it up.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "manager/lease_manager.h"
#include "report.h"

namespace leasehold::bench {

// A lock as a process sees it: blocking, and there from its first turn on.
struct Lock {
  std::function<void()> take;
  std::function<void()> give_back;
};

// A lease on one file, waited for. `site`: what has to live as long.
Lock lease_lock(const std::shared_ptr<void>& site, LeaseManager& manager, int number);

// What happened while processes took turns at one lock for a while.
struct Turns {
  std::vector<double> handovers;  // Microseconds from giving back to having it, where the holder changed.
  std::vector<double> counts;     // Turns of each process.
};

// When a process that gave back asks again.
enum class Again {
  at_once,
  after_the_next,  // When somebody else has it, so that each turn is a hand-over.
};
Turns take_turns_for(std::chrono::milliseconds duration, int processes, std::chrono::microseconds hold,
                     Again again, const std::function<Lock(int number)>& make);

// Eight processes in a tight loop, each on a file of its own, against SQLite's own busy handler.
void compare_crowds(Report& report);

// 2, 8 and 32 processes want one file and hold it for 5 ms: against flock(2) and pg_advisory_lock.
void compare_handover(Report& report);

}  // namespace leasehold::bench
