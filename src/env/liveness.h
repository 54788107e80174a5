#pragma once

#include <memory>

#include "leasehold/lease.h"
#include "util/descriptor.h"

namespace leasehold {

// Is a process still there? A question that cannot be answered is `unknown`, which counts as alive
// until the lease's time is up. Thread-safe. Must not block.
class LivenessProbe {
 public:
  virtual ~LivenessProbe() = default;

  virtual Verdict look_at(const Process& process) = 0;

  // A descriptor that becomes readable once the process has ended, for poll(2); it cannot be read. Others may
  // have the same one. Null: it cannot be watched from here, or has ended already; look_at() says which.
  virtual std::shared_ptr<const Descriptor> watch(const Process& /*process*/) { return nullptr; }
};

}  // namespace leasehold
