// The document of a path: all who hold it.
#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "leasehold/lease.h"

namespace leasehold::redis {

// The first one stands on top.
inline void sort_for_document(std::vector<Lease>& leases) {
  std::ranges::sort(leases, {},
                    [](const Lease& lease) { return std::tie(lease.acquired_at, lease.token, lease.id); });
}

// When Redis may drop the key by itself: at the end of the last lease, but not of one that being seen alive
// may keep.
inline std::optional<std::int64_t> expiry_ms(const std::vector<Lease>& leases) {
  Time latest = Time::min();
  for (const Lease& lease : leases) {
    if (lease.attended || lease.expires_at == kForever) return std::nullopt;
    latest = std::max(latest, lease.expires_at);
  }
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(latest.time_since_epoch()).count();
  return std::max<std::int64_t>(ms, 1);
}

}  // namespace leasehold::redis
