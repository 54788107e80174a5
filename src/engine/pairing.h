#pragma once

#include <vector>

#include "engine/ledger.h"

namespace leasehold {

// The live leases of the caller's that pairing added for `source` and that nothing else keeps: never asked
// for themselves, and paired with no other source that is still held in the session.
std::vector<Lease> only_paired_with(View& view, const Context& context, const Caller& caller,
                                    const Lease& source);

// The live leases of its owner that pairing added for `source`, whatever else keeps them.
std::vector<Lease> live_pairs(View& view, const Context& context, const Lease& source);

// Takes `source` away from what pairing added for it, and returns the leases that are then nobody's.
// They are not ended here. What is not the caller's own stays as it is.
std::vector<Lease> detach_pairs(Ledger& ledger, const Caller& caller, const Lease& source);

// For an operator, to whom it does not matter which agent of the session has the pair.
Caller anybody_of_session(const Lease& source);

}  // namespace leasehold
