#pragma once

#include "engine/context.h"
#include "leasehold/calls.h"
#include "store/store.h"

namespace leasehold {

struct SweepStep {
  Swept swept;
  bool more = false;  // The limit was reached; sweep again.
};

// Records what ended and lets those go who can. Nothing depends on it being done in time: what is over
// blocks nobody, swept or not.
SweepStep sweep(Transaction& transaction, const Context& context, std::size_t limit);

// The same for active leases and pending tickets whose owner may have died long before their time:
// looks at every one there is.
Swept sweep_dead(Transaction& transaction, const Context& context);

}  // namespace leasehold
