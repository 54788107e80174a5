// Leases of etcd's own, to attach keys to. They are never kept alive: who renews a lease of ours attaches its
// key to a younger one of these. So any number of owners may share one, and none lives by another's renewals.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "store/etcd/cluster.h"
#include "util/since_boot.h"

namespace leasehold::etcd {

class LeasePool {
 public:
  explicit LeasePool(const Cluster& cluster) : cluster_(cluster) {}

  // One that lives for `life` from now on, and up to `slack` (and etcd's half a second) longer; for one more
  // key. Asks the cluster at most once in `slack`. Thread-safe. Throws Failure.
  std::int64_t borrow(std::chrono::seconds life, std::chrono::seconds slack);

  // What was granted is not to be used any more.
  void drop_all();

 private:
  struct Granted {
    std::int64_t id = 0;
    int keys_left = 0;
    std::chrono::nanoseconds usable_until{};  // As since_boot().
  };

  const Cluster& cluster_;
  std::mutex mutex_;  // Held while asking: who needs the same one waits for it.
  std::map<std::pair<std::chrono::seconds, std::chrono::seconds>, Granted> granted_;
};

}  // namespace leasehold::etcd
