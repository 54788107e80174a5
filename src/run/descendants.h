#pragma once

#include <sys/types.h>

#include <vector>

namespace leasehold {

// The processes below `pid`, as /proc shows them now, without those that have ended. None where /proc cannot
// be read.
std::vector<pid_t> descendants_of(pid_t pid);

}  // namespace leasehold
