// An agent's turns: while one is open, being seen alive is enough to keep its leases; when it stops,
// they end soon. What another live process of its owner holds (lease run) is no matter of its turns.
#pragma once

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// The owner works (again): its leases are attended from now on, hang on its process if they hang on none that
// is seen to live, and those that were idle have a full term ahead. Returns how many. Errors: those of
// check_holder().
Result<std::size_t> turn_started(Transaction& transaction, const Context& context, const Holder& holder);

// The owner's turn is over: its leases end after `idle_grace`, unless it starts again.
Result<std::size_t> turn_stopped(Transaction& transaction, const Context& context, const Holder& holder);

}  // namespace leasehold
