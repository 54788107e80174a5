#pragma once

#include <chrono>
#include <ctime>

namespace leasehold {

// Goes on while the machine sleeps, and nobody sets it.
inline std::chrono::nanoseconds since_boot() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace leasehold
