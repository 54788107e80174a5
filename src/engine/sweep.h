#pragma once

#include "engine/context.h"
#include "store/store.h"

namespace leasehold {

struct Swept {
  std::size_t ended = 0;    // Leases recorded as over.
  std::size_t dropped = 0;  // Waiters recorded as gone.
  bool more = false;        // The limit was reached; sweep again.
};

// Records what ended and lets those go who can. Nothing depends on it being done in time: what is over
// blocks nobody, swept or not.
Swept sweep(Transaction& transaction, const Context& context, std::size_t limit);

// The same for active leases and pending tickets whose owner may have died long before their time:
// looks at every one there is.
Swept sweep_dead(Transaction& transaction, const Context& context);

}  // namespace leasehold
