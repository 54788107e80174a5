#include "engine/sweep.h"

#include <algorithm>

#include "engine/deadlock.h"
#include "engine/grant.h"
#include "engine/ledger.h"
#include "engine/live.h"
#include "engine/ownership.h"

namespace leasehold {
namespace {

// False: nobody who is in its way can be waiting for it, nor in the way of what else its owner waits for.
// Most waiters of a long queue are like that.
bool may_be_waited_for(Ledger& ledger, const Ticket& ticket, const std::vector<Ticket>& waiting) {
  const Caller& caller = ticket.request->caller;
  const Owner& owner = caller.holder.owner;
  const bool one_file = ticket.request->paths.size() == 1 && !ticket.request->paths.front().subtree;
  if (!one_file || caller.whole_session || ledger.transaction().lease_count(owner) > 0) return true;
  return std::ranges::any_of(waiting, [&](const Ticket& other) {
    return other.id != ticket.id && owns(other.request->caller, owner);
  });
}

Swept record_lapsed(Ledger& ledger, std::vector<Lease> leases, std::vector<Ticket> tickets) {
  Swept swept;
  std::vector<Ticket> seen_again;
  for (Lease& lease : leases) {
    const EndCause cause = lapse(lease, ledger.now(), ledger.context());
    if (cause != EndCause::none) {
      ledger.end(std::move(lease), cause);
      ++swept.ended;
    } else if (lives_by_attendance(lease, ledger.now())) {
      ledger.prove_life(lease);
    }
  }
  for (Ticket& ticket : tickets) {
    const EndCause cause = lapse(ticket, ledger.now(), ledger.context());
    if (cause != EndCause::none) {
      ledger.fail(std::move(ticket), cause);
      ++swept.dropped;
    } else if (ticket.proven_until <= ledger.now()) {
      // It is seen to live. Without this it would be due again at once, and the sweep would not end.
      ledger.prove_life(ticket);
      seen_again.push_back(std::move(ticket));
    }
  }
  settle(ledger);
  if (seen_again.empty()) return swept;
  // While they did not count, others may have come to wait for them.
  const std::vector<Ticket> waiting = ledger.transaction().tickets({});
  for (const Ticket& ticket : seen_again) {
    if (may_be_waited_for(ledger, ticket, waiting))
      fail_deadlocked_waits(ledger, ticket.request->caller.holder.owner);
  }
  settle(ledger);
  return swept;
}

template <class Id>
std::vector<Id> take_last(std::vector<Id>& ids, std::size_t most) {
  const auto from = ids.end() - static_cast<std::ptrdiff_t>(std::min(ids.size(), most));
  std::vector<Id> taken(from, ids.end());
  ids.erase(from, ids.end());
  return taken;
}

}  // namespace

SweepStep sweep(Transaction& transaction, const Context& context, std::size_t limit) {
  Ledger ledger(transaction, context);
  Due due = transaction.due(transaction.now(), limit);
  const bool is_full = due.leases.size() == limit || due.tickets.size() == limit;
  const Swept swept = record_lapsed(ledger, std::move(due.leases), std::move(due.tickets));
  // A store may have given fewer than there are.
  return {swept, is_full || swept.ended + swept.dropped > 0};
}

Suspects find_dead(View& view, const Context& context, const std::set<Owner>& owners) {
  std::vector<Filter> filters(owners.empty() ? 1 : 0);
  for (const Owner& owner : owners)
    filters.push_back({.agent_id = owner.agent_id, .session_id = owner.session_id});
  Suspects suspects;
  for (const Filter& filter : filters) {
    for (const Lease& lease : view.leases(filter)) {
      if (lapse(lease, view.now(), context) != EndCause::none) suspects.leases.push_back(lease.id);
    }
    for (const Ticket& ticket : view.tickets(filter)) {
      if (lapse(ticket, view.now(), context) != EndCause::none) suspects.tickets.push_back(ticket.id);
    }
  }
  return suspects;
}

Suspects take_some(Suspects& suspects, std::size_t most) {
  return {.leases = take_last(suspects.leases, most), .tickets = take_last(suspects.tickets, most)};
}

Swept sweep(Transaction& transaction, const Context& context, const Suspects& suspects) {
  Ledger ledger(transaction, context);
  std::vector<Lease> leases;
  for (const LeaseId& id : suspects.leases) {
    auto lease = transaction.lease(id);
    if (lease && lease->status == Status::active) leases.push_back(*std::move(lease));
  }
  std::vector<Ticket> tickets;
  for (const GroupId& id : suspects.tickets) {
    auto ticket = transaction.ticket(id);
    if (ticket && ticket->status == Status::pending) tickets.push_back(*std::move(ticket));
  }
  return record_lapsed(ledger, std::move(leases), std::move(tickets));
}

}  // namespace leasehold
