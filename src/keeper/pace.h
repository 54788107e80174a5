// The numbers of the keeper: until when a lease is good, and when to do what about it.
#pragma once

#include "leasehold/lease.h"
#include "leasehold/local_clock.h"
#include "util/random.h"

namespace leasehold {

using LocalDuration = LocalTime::duration;

// What clocks may differ by in one TTL. Each may be slewed against true time by 1 % (NTP slews by 0.05 %,
// chrony's unusual settings by more); the constant is for stores that keep whole milliseconds.
LocalDuration drift_margin(Duration ttl);

// Until when a lease is good on the local clock, by an answer to what was asked at `asked_at`.
//
// The store decided after `asked_at`, and counted the lease's time from then: last_heartbeat_at, on its own
// time line. The lease has its TTL from there, or less if it is recalled, idle, or was extended by nothing.
LocalTime valid_until(const Lease& lease, LocalTime asked_at);

// How much of the TTL was gone already when the store decided.
LocalDuration used_up(const Lease& lease);

// It is to end at a moment of its own, whatever is renewed.
bool is_capped(const Lease& lease);

// From one renewal to the next: 2/5 of the TTL, +-10 %.
LocalDuration renew_after(Duration ttl, Random& random);

// From the `misses`th failed call in a row to the next try. The first is within 1/60 of the TTL or 5 s, and
// twice as much each time, up to 1/10 or 30 s; then by chance between half and all of it, so that a store
// that comes back is not met by everybody at once.
LocalDuration retry_after(Duration ttl, std::size_t misses, Random& random);

}  // namespace leasehold
