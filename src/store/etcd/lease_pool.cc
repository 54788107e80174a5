#include "store/etcd/lease_pool.h"

namespace leasehold::etcd {
namespace {

// etcd ends all keys of a lease in one step, and that should not be long.
constexpr int kKeysMax = 500;

// TTLs there are in use at a time; more are made up by somebody who asks for a new one each time.
constexpr std::size_t kLengthsMax = 1000;

}  // namespace

std::int64_t LeasePool::borrow(std::chrono::seconds life, std::chrono::seconds slack) {
  const std::lock_guard lock(mutex_);
  if (granted_.size() > kLengthsMax) granted_.clear();
  Granted& granted = granted_[{life, slack}];
  const std::chrono::nanoseconds now = since_boot();
  if (granted.keys_left == 0 || now >= granted.usable_until) {
    pb::LeaseGrantRequest request;
    request.set_ttl((life + slack).count());
    const pb::LeaseGrantResponse response = cluster_.grant(request);
    // Counted from before it was asked for: etcd counts from later.
    granted = {.id = response.id(), .keys_left = kKeysMax, .usable_until = now + slack};
  }
  --granted.keys_left;
  return granted.id;
}

void LeasePool::drop_all() {
  const std::lock_guard lock(mutex_);
  granted_.clear();
}

}  // namespace leasehold::etcd
