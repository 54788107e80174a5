#pragma once

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// Extends leases from now on, by their own ttl or a new one. The tokens do not change. A lease that
// ended is never revived, even when the path is free again: somebody may have held it in between. One whose
// owner's turn has stopped still ends when it would have: a keeper that goes on renewing is no agent at work.
//
// For each lease: renewed; or lost, transferred, stale_token, not_owner, not_found,
// max_renewals_exceeded. All leases of an owner at once make one line of history.
Result<Outcomes> renew(Transaction& transaction, const Context& context, const RenewRequest& request);

}  // namespace leasehold
