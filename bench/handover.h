// Several processes at once: who gets a turn, and how soon after the last one gave it up.
#pragma once

#include <functional>
#include <memory>
#include <string>
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

// What hands one file on, and how a process (`number`, from 0) gets at it.
struct Contender {
  std::string name;
  std::function<Lock(int number)> make;
};

// So many processes want one file and hold it for 5 ms. A process that gave back asks again when somebody
// else has it, so that each turn is a hand-over. Reports the rate, the time from giving back to having it,
// and the share of the slowest; returns the median of that time for each contender, in microseconds.
std::vector<double> compare_turns(Report& report, int processes, const std::vector<Contender>& contenders);

// Eight processes in a tight loop, each on a file of its own, against SQLite's own busy handler.
void compare_crowds(Report& report);

// 2, 8 and 32 processes want one file and hold it for 5 ms: against flock(2) and pg_advisory_lock.
void compare_handover(Report& report);

}  // namespace leasehold::bench
