#pragma once

#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/ledger.h"
#include "engine/survey.h"

namespace leasehold {

// `waiter` cannot go on before `holder` gives up `path`, or got it first and gives it up then.
struct WaitEdge {
  Owner waiter;
  std::string path;
  Owner holder;
  bool holder_waits = false;
};

// The cycle that `asking` closes, by waiting for what was `found` in its way or by being waited for: each
// waits for the next, the last for the first. Empty: there is none. `asking` is not written yet. One that
// overtakes nobody and whose caller nobody waits for closes none: for that there is is_waited_for().
//
// Costs one look at the tickets of the asker and of each owner in the way, and goes deeper only
// through owners who wait themselves.
std::vector<WaitEdge> find_cycle(View& view, const Context& context, const Ticket& asking,
                                 const Survey& found);

// False: nothing of the caller's can be in anybody's way. A wait of its that is behind all others closes no
// cycle then.
bool is_waited_for(View& view, const Caller& caller);

std::string describe(const std::vector<WaitEdge>& cycle);

// Fails a ticket that closes a cycle now, although it did not when it was queued: its owner lost some
// of what it held, or was given something that others wait for. Its own wait gives way; the others
// did nothing.
void fail_if_deadlocked(Ledger& ledger, const Ticket& ticket);

// The same for all that an owner waits for, itself or by one who acts for its session.
void fail_deadlocked_waits(Ledger& ledger, const Owner& owner);

}  // namespace leasehold
