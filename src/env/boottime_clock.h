#pragma once

#include "store/clock.h"

namespace leasehold {

// This machine's time since boot. Counts suspend, cannot be set, and starts over with each boot.
class BoottimeClock final : public StoreClock {
 public:
  Time now() const override;
  WallTime wall() const override;
};

}  // namespace leasehold
