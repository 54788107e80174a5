#pragma once

#include <set>

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

// What is over, or seems so: a place for the sweeper to look, not a verdict.
struct Suspects {
  std::vector<LeaseId> leases;
  std::vector<GroupId> tickets;

  bool empty() const { return leases.empty() && tickets.empty(); }
};

// Those whose owner may have died long before their time: looks at every active lease and pending ticket, or
// if there are `owners`, only at theirs.
Suspects find_dead(View& view, const Context& context, const std::set<Owner>& owners = {});

// Takes so many of each off, from the end.
Suspects take_some(Suspects& suspects, std::size_t most);

// The same as sweep() for some.
Swept sweep(Transaction& transaction, const Context& context, const Suspects& suspects);

}  // namespace leasehold
