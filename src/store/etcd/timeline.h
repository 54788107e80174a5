// What time it is: that of the fastest clock among those who write here.
//
// etcd tells no time. Exclusion does not depend on it (a lease ends when etcd drops its key); waits, idle
// times and what people read do. Each commit leaves a stamp, and whoever reads one that is ahead of its own
// clock goes on from there. A stamp that is far ahead is somebody's mistake, and is not followed.
#pragma once

#include <atomic>
#include <chrono>

#include "leasehold/lease.h"
#include "util/wall_now.h"

namespace leasehold::etcd {

inline constexpr std::chrono::minutes kSkewMax{10};
inline constexpr std::chrono::seconds kSkewReported{30};

// Thread-safe.
class Timeline {
 public:
  // Given the last stamp there is.
  WallTime now(WallTime stamp) {
    const auto local = wall_now();
    std::int64_t ahead = ahead_;
    const std::int64_t seen = (stamp - local).count();
    while (seen > ahead && seen < WallTime::duration(kSkewMax).count() &&
           !ahead_.compare_exchange_weak(ahead, seen)) {
    }
    return local + WallTime::duration(ahead_.load());
  }

 private:
  std::atomic<std::int64_t> ahead_ = 0;  // How far the fastest one is before ours.
};

}  // namespace leasehold::etcd
