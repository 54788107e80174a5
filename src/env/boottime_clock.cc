#include "env/boottime_clock.h"

#include <ctime>

namespace leasehold {

Time BoottimeClock::now() const {
  timespec moment{};
  clock_gettime(CLOCK_BOOTTIME, &moment);
  return Time(std::chrono::seconds(moment.tv_sec) + std::chrono::nanoseconds(moment.tv_nsec) - offset_);
}

WallTime BoottimeClock::wall() const {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

}  // namespace leasehold
