#pragma once

#include <vector>

#include "engine/ledger.h"

namespace leasehold {

// The live leases that pairing added for `source` and that nothing else keeps: never asked for
// themselves, and paired with no other source that is still held.
std::vector<Lease> only_paired_with(View& view, const Context& context, const Lease& source);

// Takes `source` away from what pairing added for it, and returns the leases that are then nobody's.
// They are not ended here.
std::vector<Lease> detach_pairs(Ledger& ledger, const Lease& source);

}  // namespace leasehold
