#pragma once

#include <optional>
#include <string>

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// What acquire() reads, as far as it is known beforehand.
Footprint footprint_of(const std::string& workspace, const AcquireRequest& request);

// Decides a request: grants all of it, queues it (if it may wait), or refuses it with the evidence.
// `group` is new for each request: the grant's label, or the ticket's id.
//
// `is_retry`: this call was counted against its session's limit before, and is not again.
//
// Errors: those of check_request(), limit_exceeded, lost (an idempotency key whose grant is over),
// invalid_argument (a key used for another request). Nothing is changed then.
Result<AcquireAnswer> acquire(Transaction& transaction, const Context& context, const std::string& workspace,
                              const AcquireRequest& request, const GroupId& group, bool is_retry = false);

// Gives back what a grant brought whose answer was lost, if it was made.
void take_back(Transaction& transaction, const Context& context, const AcquireRequest& request,
               const GroupId& group);

// Looks again at a waiting request: after its bell, when a holder died or ran out, or just to be
// safe. The answer is Granted, still Queued, or Refused (timeout, deadlock, lost). Another process of the
// same owner takes the wait over by it, and by asking again under the same idempotency key. With a ticket of
// another owner: not_owner; unknown: not_found.
Result<AcquireAnswer> poll(Transaction& transaction, const Context& context, const Caller& caller,
                           const GroupId& ticket);

// Shows that who waits is there, without looking at the queue: for one who stands far behind in it. False:
// something is to be told or decided, so poll().
Result<bool> wait_on(Transaction& transaction, const Context& context, const Caller& caller,
                     const GroupId& id);

// The grant that a waiting request became, if that is all there is to say to its owner. Else nothing: poll().
std::optional<Granted> granted_meanwhile(View& view, const Context& context, const Caller& caller,
                                         const GroupId& ticket);

// Stops waiting. Nothing stays queued. A request that was granted meanwhile is given back: what it brought is
// released, and what it upgraded is shared again.
Result<void> cancel(Transaction& transaction, const Context& context, const Caller& caller,
                    const GroupId& ticket);

}  // namespace leasehold
