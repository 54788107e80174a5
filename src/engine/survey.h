// What stands between a request and its grant.
#pragma once

#include <optional>
#include <vector>

#include "engine/context.h"
#include "engine/queue_order.h"
#include "leasehold/calls.h"
#include "store/store.h"

namespace leasehold {

struct LapsedLease {
  Lease lease;
  EndCause cause;
};

struct LapsedTicket {
  Ticket ticket;
  EndCause cause;
};

struct Survey {
  // In the order of the request's paths.
  struct Place {
    std::optional<Lease> own;  // The caller's live lease on exactly this scope.
    bool covered = false;      // By a live lease of the caller's, in any mode: this one or a subtree above.
    bool held = false;         // The caller has all it asks for here already.
    std::size_t waiters_ahead = 0;
  };
  std::vector<Place> places;
  bool upgrade = false;  // All it still needs, the caller holds shared.

  std::vector<Blocked> blocked;   // Nothing here: it can be granted.
  bool overtakes = false;         // Somebody who waits for some of it would be behind it.
  bool same_owner_waits = false;  // By another request, for some of it.

  // Met on the way: to be recorded by whoever has a transaction.
  std::vector<LapsedLease> lapsed_leases;
  std::vector<LapsedTicket> lapsed_tickets;
  std::vector<Lease> attended;  // Past their time, alive by attendance.

  std::size_t waiters_ahead() const;
};

// Surveys a request that arrives now, or, given its ticket, one that waits. `also` is a ticket that
// is about to be written and counts as if it were.
//
// A request can be granted iff no live lease conflicts with it and no live waiter ordered before it
// does. What its owner already holds, itself or by a subtree above, it does not queue for again.
Survey survey(View& view, const Context& context, const AcquireRequest& request,
              const Ticket* waiting = nullptr, const Ticket* also = nullptr);

// The same for one who waits, and whom no other request that waits concerns.
Survey survey_alone(View& view, const Context& context, const Ticket& waiting);

// Waiters in the order they will go. An upgrade whose owner lost the shared lease is no upgrade any more: it
// waits like everybody else, from when it came.
std::vector<Ticket> in_order(View& view, const Context& context, std::vector<Ticket> tickets);

// The answer to a request that waits.
Queued place_in_queue(const Ticket& ticket, Survey found, Time now);

// Leaves out whom nobody would read about: a queue may have thousands. Returns how many.
std::size_t shorten(std::vector<Blocked>& blocked);

// The two could not be held at once.
bool conflict(const Ticket& a, const Ticket& b);

}  // namespace leasehold
