#pragma once

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// Hands leases to another owner in one step: no moment in between in which a third party could be
// granted. The receiver gets leases of its own under one new token, or what it held there already becomes
// the better of both; the giver's end as transferred, so that it is fenced at once. A path's pairs go with
// it, and so does a recall, unless an operator hands it over. Nobody attends what came in until the receiver
// is at work; within a session whose other agent is (`attended`), it is attended from the start.
//
// Errors per lease: not_owner, not_found, lost, transferred. Errors of the whole, which then changes
// nothing: busy (the giver would keep a lease that overlaps one it hands over), limit_exceeded (of the
// receiver), and those of the checks of the request.
Result<Outcomes> transfer(Transaction& transaction, const Context& context, const TransferRequest& request);

}  // namespace leasehold
