#pragma once

#include "store/clock.h"

namespace leasehold {

// This machine's time since boot. Counts suspend, cannot be set, and starts over with each boot.
class BoottimeClock final : public StoreClock {
 public:
  // `offset`: what a time namespace adds for this process (Machine::boottime_offset). Without it, two
  // containers on one store would not agree what time it is.
  explicit BoottimeClock(std::chrono::nanoseconds offset = {}) : offset_(offset) {}

  Time now() const override;
  WallTime wall() const override;

 private:
  std::chrono::nanoseconds offset_;
};

}  // namespace leasehold
