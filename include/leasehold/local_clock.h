// This process's own time: how long something may be believed. Never what a store decides by.
#pragma once

#include <chrono>

namespace leasehold {

// A moment on the local clock. A type of its own, so that it cannot be compared with a store's Time.
struct LocalTimeline {};
using LocalTime = std::chrono::time_point<LocalTimeline, std::chrono::nanoseconds>;

// Thread-safe.
class LocalClock {
 public:
  virtual ~LocalClock() = default;

  // Never goes back, cannot be set, and counts time asleep (CLOCK_BOOTTIME).
  virtual LocalTime now() const = 0;

  // Blocks until `until`, or until the descriptor `wake` can be read, whichever is first. May return early;
  // LocalTime::max() is never. Time asleep counts: a machine that resumes after `until` returns at once.
  virtual void wait(LocalTime until, int wake) = 0;
};

}  // namespace leasehold
