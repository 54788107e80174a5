// Who still counts. The one predicate that acquire, check, status and the sweeper share.
#pragma once

#include "engine/context.h"
#include "leasehold/lease.h"
#include "store/records.h"

namespace leasehold {

// `none` while an active lease is live, else why it is not:
//
//   live  iff  now < expires_at
//              or attended, the process is alive, and now < last_heartbeat_at + silence_max
//         and  its owner is not proven dead
//         and  it is neither idle nor recalled beyond its time.
EndCause lapse(const Lease& lease, Time now, const Context& context);

// Whose death ends the wait.
const std::optional<Process>& process_of(const Ticket& ticket);

// The same for a pending ticket. A waiter proves its life by its process, or, where that cannot be
// seen or is stopped, by moving proven_until on.
EndCause lapse(const Ticket& ticket, Time now, const Context& context);

// The lease is past its time and lives only because its owner is seen to be there. The next write
// transaction that notices moves it on by this much, at most to the end of the allowed silence.
bool lives_by_attendance(const Lease& lease, Time now);
Time attendance_end(const Lease& lease, Time now, const Policy& policy);

// Where a term that starts now ends: after the lease's ttl, when it is asked back, or when it has been idle
// for too long.
Time end_of_term(const Lease& lease, Time now);
// After so long a time.
Time end_of_term(Duration ttl, Time now);

// When it ends as things stand: its term, unless it is asked back or its owner stopped before that. One that
// is attended may go on past it.
Time end_as_it_stands(const Lease& lease);

// Granted to a waiter that nobody could see, which has not come for it yet: until it does, the lease lasts
// only as long as a silent waiter counts.
bool awaits_its_owner(const Lease& lease);

Liveness liveness_of(const std::optional<Process>& process, const Context& context);
// Whether a waiter can be seen to be able to come for its grant: one that is stopped cannot.
bool is_seen_to_wait(const Ticket& ticket, const Context& context);

// The same with what it is known from, for people.
Verdict verdict_on(const Holder& holder, const Context& context);

}  // namespace leasehold
