// How far the cluster was, and when.
//
// A member may answer from what it has, which may be old by any length of time. But what is at least as far
// as the cluster was at a moment that is known is not older than that moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace leasehold::etcd {

struct Known {
  std::int64_t revision = 0;
  std::chrono::nanoseconds at{};  // As since_boot(): before the cluster was asked.
};

// Thread-safe.
class Freshness {
 public:
  // The cluster as a whole said so, not a member of what it has.
  void note(const Known& known) {
    const std::lock_guard lock(mutex_);
    if (known.at > last_.at) last_ = known;
  }

  Known last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  Known last_;
};

}  // namespace leasehold::etcd
