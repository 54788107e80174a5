#include "keeper/pace.h"

#include <algorithm>

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Nothing is renewed or tried again sooner than this, whatever TTL a store may invent.
constexpr LocalDuration kShortest = 10ms;
// Longer TTLs than this would not fit into nanoseconds.
constexpr Duration kLongest = std::chrono::hours(24 * 365);

LocalDuration sane(Duration ttl) { return std::clamp(ttl, Duration::zero(), kLongest); }

// Evenly from `low` to `high` percent.
LocalDuration percent(LocalDuration of, int low, int high, Random& random) {
  constexpr int kSteps = 1000;
  const auto chance = static_cast<int>(random.next() % (kSteps + 1));
  return of / 100 * low + of / 100 * (high - low) * chance / kSteps;
}

// On the store's time line: what was left at the decision, by the lease's own time.
LocalDuration left_by_ttl(const Lease& lease) {
  const Time full = lease.last_heartbeat_at + sane(lease.ttl);
  return std::min(full, lease.expires_at) - lease.last_heartbeat_at;
}

}  // namespace

LocalDuration drift_margin(Duration ttl) { return sane(ttl) / 50 + 10ms; }

LocalTime valid_until(const Lease& lease, LocalTime asked_at) {
  LocalDuration left = left_by_ttl(lease);
  for (const std::optional<Time>& end : {lease.recalled_at, lease.idle_at}) {
    if (end && *end - lease.last_heartbeat_at < left) left = *end - lease.last_heartbeat_at;
  }
  return asked_at + left - drift_margin(lease.ttl);
}

LocalDuration used_up(const Lease& lease) {
  return std::max(sane(lease.ttl) - left_by_ttl(lease), LocalDuration::zero());
}

bool is_capped(const Lease& lease) { return lease.recalled_at || lease.idle_at; }

LocalDuration renew_after(Duration ttl, Random& random) {
  return std::max(percent(sane(ttl) * 2 / 5, 90, 110, random), kShortest);
}

LocalDuration retry_after(Duration ttl, std::size_t misses, Random& random) {
  const LocalDuration first = std::clamp<LocalDuration>(sane(ttl) / 60, kShortest, 5s);
  const LocalDuration last = std::clamp<LocalDuration>(sane(ttl) / 10, kShortest, 30s);
  const std::size_t doublings = std::min<std::size_t>(std::max<std::size_t>(misses, 1) - 1, 10);
  return percent(std::min(first * (1 << doublings), last), 50, 100, random);
}

}  // namespace leasehold
