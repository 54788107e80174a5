#pragma once

#include "leasehold/local_clock.h"

namespace leasehold {

// This machine's time since boot.
class BoottimeLocalClock final : public LocalClock {
 public:
  LocalTime now() const override;
  void wait(LocalTime until, int wake) override;
};

}  // namespace leasehold
