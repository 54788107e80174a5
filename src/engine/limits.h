// How much one owner may have, and how many may wait for one path. Error of all of these: limit_exceeded.
#pragma once

#include "engine/ledger.h"
#include "engine/survey.h"
#include "leasehold/result.h"

namespace leasehold {

// May the request be granted, or queued if the survey found somebody in its way? What the owner waits for
// counts as if it had it: else a queue were a way around the limit.
Result<void> check_limits(Ledger& ledger, const AcquireRequest& request, const Survey& found);

// After a transfer: has its receiver got more than it may hold, with what it waits for?
Result<void> check_receiver(Ledger& ledger, const Owner& receiver);

}  // namespace leasehold
