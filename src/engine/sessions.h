// Session locks (profile `session`): how often a session may ask, and what it has, to be asked for again when
// it comes back. What a session has is written in the transaction that grants or ends the lease, or tells one
// who waited that it was granted; so nobody is told of a lease whose path could not be remembered.
#pragma once

#include <optional>
#include <string>

#include "engine/policy.h"
#include "leasehold/calls.h"
#include "store/store.h"

namespace leasehold {

// Counts one acquire call of the session. Too many in this window: the refusal, with the time until the next
// one opens.
std::optional<Refused> count_call(Transaction& transaction, const Policy& policy,
                                  const std::string& session_id);

// Keeps what is remembered true to the lease as it was just written: active, it is its session's; released,
// it is not. A lease that ran out still is: that is what a session comes back for.
void remember(Transaction& transaction, const Policy& policy, const Lease& lease);

// The same for what one is told that it was granted before: whoever let it go ahead may have another profile.
void remember(Transaction& transaction, const Policy& policy, const Decision& told);

// The session gave the path back, which may have run out before.
void give_up(Transaction& transaction, const Policy& policy, const Lease& lease);

// The session is gone for good.
void give_up_all(Transaction& transaction, const std::string& session_id);

// What the session has, by the schema of such a path; the rest is told. Error: invalid_session.
Result<SessionPaths> session_paths(View& view, const std::string& session_id);

}  // namespace leasehold
