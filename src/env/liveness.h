#pragma once

#include "leasehold/lease.h"

namespace leasehold {

// Is a process still there? A question that cannot be answered is `unknown`, which counts as alive
// until the lease's time is up. Thread-safe. Must not block.
class LivenessProbe {
 public:
  virtual ~LivenessProbe() = default;

  virtual Verdict look_at(const Process& process) = 0;
};

}  // namespace leasehold
