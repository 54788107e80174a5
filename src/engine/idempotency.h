// Asking again under the same key is safe: it finds the first answer instead of making a second.
#pragma once

#include <optional>

#include "engine/ledger.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"

namespace leasehold {

// The leases of a grant as they are now; nothing if it is over, be it in part.
std::optional<Granted> live_grant(View& view, const Context& context, const GroupId& group, Mode mode,
                                  const std::vector<LeaseId>& ids);

// What a request got before under its key, as it stands now: one of the two.
struct Earlier {
  std::optional<Ticket> waits;  // Its place in the queue. Whoever asks again is to look again.
  std::optional<Granted> granted;
  bool ttl_clamped = false;
};

// Nothing if there is no such request, or it got nothing; a wait whose time is up is ended on the way.
// Errors: invalid_argument (the key was used for another request), lost (that grant is over).
Result<std::optional<Earlier>> find_earlier(Ledger& ledger, const AcquireRequest& request);

// A request that waited under a key was granted.
void remember_grant(Transaction& transaction, const AcquireRequest& request,
                    const std::vector<LeaseId>& leases);

// Keeps a grant or a place in the queue under the request's key. A refusal changed nothing, so
// asking again may well get another answer.
void remember(Transaction& transaction, const Context& context, const AcquireRequest& request,
              bool ttl_clamped, const Decision& decision);

}  // namespace leasehold
