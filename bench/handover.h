// Several processes at once: who gets a turn, and how soon after the last one gave it up.
#pragma once

#include "report.h"

namespace leasehold::bench {

// Eight processes in a tight loop, each on a file of its own, against SQLite's own busy handler.
void compare_crowds(Report& report);

// 2, 8 and 32 processes want one file and hold it for 5 ms: against flock(2) and pg_advisory_lock.
void compare_handover(Report& report);

}  // namespace leasehold::bench
