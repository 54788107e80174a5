#pragma once

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// shared -> exclusive, in place, under a new token: the same lease, the same id. Asks, waits, queues
// (before ordinary waiters) and is refused like any acquire of the same paths. A path that the caller
// does not hold is an error: not_found, not_owner, lost.
Result<AcquireAnswer> upgrade(Transaction& transaction, const Context& context, const std::string& workspace,
                              AcquireRequest request, const GroupId& group);

// The same for one lease of the caller's, by its id: no other is upgraded, and with a token only if that is
// its current one. Errors also: transferred, stale_token.
Result<AcquireAnswer> upgrade_one(Transaction& transaction, const Context& context,
                                  const std::string& workspace, const Caller& caller, const LeaseId& id,
                                  const std::optional<Token>& token, const GroupId& group);

// exclusive -> shared, in place. The token stays. A shared lease stays what it is.
Result<Outcomes> downgrade(Transaction& transaction, const Context& context, const ReleaseRequest& request);

}  // namespace leasehold
