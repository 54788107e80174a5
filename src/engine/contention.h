// What the gate remembers: who was denied which path, since when, and how far the protocol has come.
#pragma once

#include <optional>

#include "engine/ledger.h"
#include "engine/survey.h"
#include "leasehold/gate.h"

namespace leasehold {

// The answer to a request that was denied before and has not got to be looked at again yet: it is halted,
// or its retry is still to come. Even if the file is free by now.
std::optional<Denied> deny_again(Transaction& transaction, const AcquireRequest& request,
                                 const Survey& found);

// Whether the owner was told to leave one of the paths alone. A lease that it got all the same does not
// change that.
bool is_abandoned(View& view, const AcquireRequest& request);

// Denies a request that somebody is in the way of: the first time it schedules the retry, at the retry it
// halts. Writes a line of history for each path.
Denied deny(Ledger& ledger, const AcquireRequest& request, Survey found);

// Who was in the way of something that was done without asking: a line of history for each path, for the
// reason of the request. The protocol does not begin with it.
Denied note_past(Ledger& ledger, const AcquireRequest& request, Survey found);

// The owner has, or gets, these paths. What it was told to leave alone stays so.
void clear_contentions(Transaction& transaction, const AcquireRequest& request);

// One line of history about a contention.
void note(Transaction& transaction, const Contention& contention, EventType type, const Because& because);

}  // namespace leasehold
