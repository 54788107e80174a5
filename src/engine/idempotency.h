// Asking again under the same key is safe: it finds the first answer instead of making a second.
#pragma once

#include <optional>

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// The leases of a grant as they are now; nothing if it is over, be it in part.
std::optional<Granted> live_grant(Transaction& transaction, const Context& context, const GroupId& group,
                                  const std::vector<LeaseId>& ids);

// The decision given before under the request's key, as it stands now; nothing if there is none.
// Errors: invalid_argument (the key was used for another request), lost (that grant is over).
Result<std::optional<Decision>> replay(Transaction& transaction, const Context& context,
                                       const AcquireRequest& request);

// A request that waited under a key was granted.
void remember_grant(Transaction& transaction, const AcquireRequest& request, const std::vector<LeaseId>& leases);

// Keeps a grant or a place in the queue under the request's key. A refusal changed nothing, so
// asking again may well get another answer.
void remember(Transaction& transaction, const Context& context, const AcquireRequest& request, bool ttl_clamped,
              const Decision& decision);

}  // namespace leasehold
