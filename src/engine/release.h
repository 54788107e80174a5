#pragma once

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// Gives leases back. For each: released; or already over, which is success too; or an error
// (stale_token, not_owner, not_found) that leaves the others alone. What pairing added for a
// released path goes with it, unless it was asked for itself or another held source pairs with it.
// `all`, and by pr, session or agent, also cancels what the caller still waits for.
Result<Outcomes> release(Transaction& transaction, const Context& context, const ReleaseRequest& request);

// For operators: ends other owners' leases and tells them; with `recall`, asks for them first. Waits are not
// taken by force: not_found.
Result<Outcomes> force_release(Transaction& transaction, const Context& context,
                               const ForceReleaseRequest& request);

}  // namespace leasehold
