#include "engine/acquire.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/deadlock.h"
#include "engine/explain.h"
#include "engine/grant.h"
#include "engine/idempotency.h"
#include "engine/limits.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/sessions.h"
#include "engine/survey.h"
#include "engine/validate.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

Ticket new_ticket(Transaction& transaction, const Context& context, const std::string& workspace,
                  const AcquireRequest& request, const GroupId& id, bool upgrade) {
  const Time now = transaction.now();
  return {.id = id,
          .workspace = workspace,
          .request = request,
          .sequence = transaction.next_token(),
          .arrival = now,
          .order = rank_at_arrival(request.priority, upgrade, now, context.policy).order,
          .upgrade = upgrade,
          .wait_until = now + *request.wait,
          .proven_until = now + context.policy.waiter_silence};
}

Refused refused(const AcquireRequest& request, Survey found, Time now) {
  std::string message = explain_blocked(found.blocked, now);
  const std::size_t more = shorten(found.blocked);
  return {.code = Code::busy,
          .message = std::move(message),
          .blocked = std::move(found.blocked),
          .next_command = next_command(request),
          .more_blocked = more};
}

std::string never_ends(const std::string& cycle) {
  return fmt::format("Waiting would never end: {}. Release what you hold, or stop waiting, and ask again.",
                     cycle);
}

// Those who come to wait for one file as its only user, for nothing else, and hold nothing, need not know of
// each other. Which of them goes first does not matter: whoever is in the way of one is in the way of those
// behind it. And as long as one of them waits who was seen, whoever came behind waits too.
void come_behind(Ledger& ledger, const Ticket& ticket, const Survey& found) {
  const AcquireRequest& request = ticket.request;
  if (ledger.has_searched() || request.caller.whole_session) return;
  if (request.paths.size() > 1 || request.paths.front().subtree || request.mode != Mode::exclusive) return;
  // Close to the limit each has to be counted.
  if (found.waiters_ahead() >= ledger.context().policy.waiters_per_path_max / 2) return;
  const std::string& path = request.paths.front().path;
  std::optional<Ticket> last;
  for (Ticket& other : ledger.transaction().tickets_at({path, false})) {
    const bool is_there = std::ranges::any_of(other.request->paths,
                                              [&](const WantedPath& wanted) { return wanted.path == path; });
    if (!is_there || other.upgrade || other.request->mode != Mode::exclusive) continue;
    if (!last || before(rank_of(*last, false), rank_of(other, false))) last = std::move(other);
  }
  ledger.transaction().come_behind(path, last ? std::optional(last->id) : std::nullopt);
}

Refused deadlocked(Survey found, const std::vector<WaitEdge>& cycle) {
  const std::size_t more = shorten(found.blocked);
  return {.code = Code::deadlock,
          .message = never_ends(describe(cycle)),
          .blocked = std::move(found.blocked),
          .more_blocked = more};
}

// Who waits in a circle may wait for what is over, and nobody noted that yet. True: one of them waits no
// more.
bool let_go(Ledger& ledger, const std::vector<WaitEdge>& cycle) {
  Transaction& transaction = ledger.transaction();
  std::vector<Ticket> tickets;
  for (const WaitEdge& edge : cycle) {
    const Filter its = {.agent_id = edge.waiter.agent_id, .session_id = edge.waiter.session_id};
    std::ranges::move(transaction.tickets(its), std::back_inserter(tickets));
  }
  for (const Ticket& ticket : tickets) ledger.free(ticket.request);
  settle(ledger);
  ledger.note_search();
  return std::ranges::any_of(tickets, [&](const Ticket& ticket) {
    return transaction.ticket(ticket.id)->status != Status::pending;
  });
}

// A request that would wait for itself is not queued.
Decision decide(Ledger& ledger, const std::string& workspace, const AcquireRequest& request,
                const GroupId& group, Survey found) {
  while (!found.blocked.empty()) {
    if (!request.wait) return refused(request, std::move(found), ledger.now());
    Ticket ticket =
        new_ticket(ledger.transaction(), ledger.context(), workspace, request, group, found.upgrade);
    // Long queues are of those who hold nothing: then there is nothing to search.
    const bool may_close_cycle = found.overtakes || is_waited_for(ledger.transaction(), request.caller);
    std::vector<WaitEdge> cycle;
    if (may_close_cycle) {
      cycle = find_cycle(ledger.transaction(), ledger.context(), ticket, found);
    } else if (!found.upgrade && !found.same_owner_waits) {
      come_behind(ledger, ticket, found);
    }
    if (cycle.empty()) {
      ledger.enqueue(ticket);
      return place_in_queue(ticket, std::move(found), ledger.now());
    }
    if (!let_go(ledger, cycle)) return deadlocked(std::move(found), cycle);
    found = survey_and_record(ledger, request);
  }
  return Granted{.group_id = group, .leases = give_at_once(ledger, workspace, request, group, found)};
}

Code failure_code(EndCause cause) {
  switch (cause) {
    case EndCause::timed_out:
      return Code::timeout;
    case EndCause::deadlock:
      return Code::deadlock;
    default:
      return Code::lost;
  }
}

// What was recorded when the wait failed; empty if no history is kept.
std::string recorded_cycle(View& view, const Ticket& ticket) {
  const std::vector<Event> events = view.history(
      {.path = ticket.request->paths.front().path, .lease_id = ticket.leases.front(), .limit = 1});
  return events.empty() ? "" : events.front().reason;
}

Duration waited(const Ticket& ticket) {
  return std::chrono::duration_cast<Duration>(ticket.ended_at - ticket.arrival);
}

// What was waited for, in a sentence.
std::string wanted(const Ticket& ticket) {
  const std::size_t more = ticket.request->paths.size() - 1;
  return in_sentence(ticket.request->paths.front().path) +
         (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string failure_message(View& view, const Ticket& ticket, const std::vector<Blocked>& blocked) {
  if (ticket.ended_by == EndCause::timed_out && blocked.empty()) {
    return fmt::format("Waited {}, which was all it was given. Nobody is in the way now. Ask again.",
                       describe(waited(ticket)));
  }
  if (ticket.ended_by == EndCause::timed_out) {
    return fmt::format("Waited {}, and still: {}", describe(waited(ticket)),
                       explain_blocked(blocked, view.now()));
  }
  if (ticket.ended_by == EndCause::deadlock) {
    if (const std::string cycle = recorded_cycle(view, ticket); !cycle.empty()) return never_ends(cycle);
  }
  return fmt::format("The wait for {} ended after {}: {}. Ask again.", wanted(ticket),
                     describe(waited(ticket)), describe(ticket.ended_by));
}

// The answer to a ticket that waits no more.
Decision outcome(Ledger& ledger, const Ticket& ticket) {
  Transaction& transaction = ledger.transaction();
  const Context& context = ledger.context();
  if (ticket.status == Status::active) {
    collect(ledger, ticket.leases);
    if (auto granted = live_grant(transaction, context, ticket.id, ticket.request->mode, ticket.leases)) {
      granted->waited = waited(ticket);
      return std::move(*granted);
    }
    const auto ago = std::chrono::duration_cast<Duration>(transaction.now() - ticket.ended_at);
    return Refused{Code::lost,
                   fmt::format("The lease on {} was granted {} ago and is over, at least in part. Ask again.",
                               wanted(ticket), describe(ago)),
                   {},
                   waited(ticket)};
  }
  Survey found = survey(transaction, context, ticket.request, &ticket);
  std::string message = failure_message(transaction, ticket, found.blocked);
  const bool in_vain = ticket.ended_by == EndCause::timed_out && !found.blocked.empty();
  const std::size_t more = shorten(found.blocked);
  return Refused{.code = failure_code(ticket.ended_by),
                 .message = std::move(message),
                 .blocked = std::move(found.blocked),
                 .waited = waited(ticket),
                 .next_command = in_vain ? next_command(ticket.request) : std::string(),
                 .more_blocked = more};
}

Result<Ticket> own_ticket(Transaction& transaction, const Caller& caller, const GroupId& id) {
  if (auto checked = check_holder(caller.holder); !checked) return fail(checked.error());
  if (auto checked = check_texts({{"ticket", id.text}}); !checked) return fail(checked.error());
  const std::optional<Ticket> ticket = transaction.ticket(id);
  if (!ticket) {
    return fail(Code::not_found,
                fmt::format("No request waits under {}, and none ended within the last hour: was the store "
                            "emptied? Ask again with lease acquire.",
                            in_quotes(id.text)));
  }
  if (!owns(caller, ticket->request->caller.holder.owner)) {
    return fail(Code::not_owner,
                fmt::format("The request {} is {}'s, not yours. Only its owner can look at it "
                            "or cancel it.",
                            id.text, describe(ticket->request->caller.holder)));
  }
  return *ticket;
}

// Does another process of the same owner wait for it now? One that cannot be told apart does if the first is
// dead.
bool changes_hands(const Context& context, const Ticket& ticket, const Holder& waiter) {
  const Holder& first = ticket.request->caller.holder;
  if (first.owner != waiter.owner || first.process == waiter.process) return false;
  return waiter.process || liveness_of(first.process, context) == Liveness::dead;
}

// Who asks is there, and waits by the process `waiter`, if it says so. False if that is news to others: while
// the waiter was dead or silent it did not count.
bool refresh(Ledger& ledger, const Caller& caller, Ticket& ticket,
             const std::optional<Process>& waiter = std::nullopt) {
  const Time now = ledger.now();
  const bool counted = lapse(ticket, now, ledger.context()) == EndCause::none;
  if (now >= ticket.wait_until) {
    ledger.fail(ticket, EndCause::timed_out);
    return true;
  }
  // Who asks again waits from now on, if it says by which process.
  if (waiter && ticket.request->waiter != waiter) {
    ticket.request.own().waiter = waiter;
    ledger.transaction().put(ticket);
  }
  // Its owner is there, if not by the process that began to wait.
  if (ticket.request->waiter && liveness_of(ticket.request->waiter, ledger.context()) == Liveness::dead) {
    ticket.request.own().waiter.reset();
    ledger.prove_life(ticket);
    return false;
  }
  if (changes_hands(ledger.context(), ticket, caller.holder)) {
    ledger.adopt(ticket, caller.holder, waiter);
    return false;
  }
  if (ticket.proven_until < now + ledger.context().policy.waiter_silence / 2) ledger.prove_life(ticket);
  return counted;
}

// Looks at a request that waits, or did, for one who is there to be told.
Decision look_again(Ledger& ledger, const Caller& caller, Ticket ticket,
                    const std::optional<Process>& waiter = std::nullopt) {
  Transaction& transaction = ledger.transaction();
  const Context& context = ledger.context();
  const GroupId id = ticket.id;
  if (ticket.status == Status::pending) {
    const bool counted = refresh(ledger, caller, ticket, waiter);
    Survey found = survey(transaction, context, ticket.request, &ticket);
    // A long queue is not read twice for who waits on in it.
    const bool waits_on = counted && ledger.now() < ticket.wait_until && !found.blocked.empty();
    if (waits_on && is_as_recorded(found)) return place_in_queue(ticket, std::move(found), ledger.now());
    record(ledger, found);
    // A store may have dropped a lease without a transaction of ours to see it.
    if (found.blocked.empty()) ledger.free(ticket.request);
    settle(ledger);
    ticket = *transaction.ticket(id);
    // Others may have come to wait for its owner meanwhile, or waited behind it while it did not count.
    if (!counted) {
      fail_deadlocked_waits(ledger, ticket.request->caller.holder.owner);
      settle(ledger);
      ticket = *transaction.ticket(id);
    }
  }
  if (ticket.status != Status::pending) return outcome(ledger, ticket);
  return place_in_queue(ticket, survey(transaction, context, ticket.request, &ticket), ledger.now());
}

Decision replay(Ledger& ledger, const AcquireRequest& request, Earlier earlier) {
  Decision decision = earlier.waits
                          ? look_again(ledger, request.caller, std::move(*earlier.waits), request.waiter)
                          : Decision(std::move(*earlier.granted));
  if (auto* granted = std::get_if<Granted>(&decision)) {
    granted->ttl_clamped = earlier.ttl_clamped;
    granted->replayed = true;
  } else if (auto* queued = std::get_if<Queued>(&decision)) {
    queued->replayed = true;
  }
  return decision;
}

// Gives back what the ticket's grant brought. What the owner held before stays, as it was held.
void take_back(Ledger& ledger, const Ticket& ticket) {
  const Because because = {{}, "the wait was cancelled"};
  for (const LeaseId& id : ticket.leases) {
    std::optional<Lease> lease = ledger.transaction().lease(id);
    if (!lease || lease->status != Status::active) continue;
    const bool raised = lease->token == ticket.token && lease->mode == Mode::exclusive;
    if (lease->group_id == ticket.id) {
      ledger.end(*lease, EndCause::released, because);
    } else if (raised && lapse(*lease, ledger.now(), ledger.context()) == EndCause::none) {
      ledger.change_mode(*lease, Mode::shared, because);
    }
  }
}

}  // namespace

Footprint footprint_of(const std::string& workspace, const AcquireRequest& request) {
  Footprint footprint = {.workspace = workspace, .owners = {request.caller.holder.owner}};
  for (const WantedPath& wanted : request.paths) footprint.scopes.push_back(wanted.scope());
  return footprint;
}

Result<AcquireAnswer> acquire(Transaction& transaction, const Context& context, const std::string& workspace,
                              const AcquireRequest& asked, const GroupId& group, bool is_retry) {
  const Result<CheckedRequest> checked = check_request(asked, context.policy);
  if (!checked) return fail(checked.error());
  const AcquireRequest& request = checked->request;
  const Owner& owner = request.caller.holder.owner;

  Ledger ledger(transaction, context);
  auto earlier = find_earlier(ledger, request);
  if (!earlier) return fail(earlier.error());
  if (*earlier) {
    Decision decision = replay(ledger, request, std::move(**earlier));
    remember(transaction, context.policy, decision);
    return AcquireAnswer{std::move(decision), take_notices(transaction, owner)};
  }

  if (auto refused = is_retry ? std::nullopt : count_call(transaction, context.policy, owner.session_id)) {
    settle(ledger);  // Its earlier wait may just have ended.
    return AcquireAnswer{std::move(*refused), take_notices(transaction, owner)};
  }
  Survey found = survey_and_record(ledger, request);
  if (auto within = check_limits(ledger, request, found); !within) return fail(within.error());

  const bool may_let_own_go = found.same_owner_waits;
  Decision decision = decide(ledger, workspace, request, group, std::move(found));
  settle(ledger);
  if (auto* granted = std::get_if<Granted>(&decision)) {
    granted->ttl_clamped = checked->ttl_clamped;
    if (may_let_own_go) refetch(transaction, granted->leases);
  }
  remember(transaction, context, request, checked->ttl_clamped, decision);
  return AcquireAnswer{std::move(decision), take_notices(transaction, owner)};
}

void take_back(Transaction& transaction, const Context& context, const AcquireRequest& request,
               const GroupId& group) {
  Ledger ledger(transaction, context);
  if (const std::optional<Ticket> ticket = transaction.ticket(group)) {
    if (ticket->status == Status::pending) ledger.fail(*ticket, EndCause::cancelled);
    if (ticket->status == Status::active) take_back(ledger, *ticket);
  }
  for (const WantedPath& wanted : request.paths) {
    for (const Lease& lease : transaction.leases_at({wanted.path, false})) {
      if (lease.group_id != group || lease.path != wanted.path) continue;
      ledger.end(lease, EndCause::released, {{}, "the answer to its grant was lost"});
    }
  }
  settle(ledger);
}

Result<AcquireAnswer> poll(Transaction& transaction, const Context& context, const Caller& caller,
                           const GroupId& id) {
  Result<Ticket> ticket = own_ticket(transaction, caller, id);
  if (!ticket) return fail(ticket.error());
  Ledger ledger(transaction, context);
  Decision decision = look_again(ledger, caller, std::move(*ticket));
  remember(transaction, context.policy, decision);
  return AcquireAnswer{std::move(decision), take_notices(transaction, caller.holder.owner)};
}

Result<bool> wait_on(Transaction& transaction, const Context& context, const Caller& caller,
                     const GroupId& id) {
  Result<Ticket> ticket = own_ticket(transaction, caller, id);
  if (!ticket) return fail(ticket.error());
  if (ticket->status != Status::pending) return false;
  if (lapse(*ticket, transaction.now(), context) != EndCause::none) return false;
  if (changes_hands(context, *ticket, caller.holder)) return false;
  if (!transaction.notices(caller.holder.owner).empty()) return false;
  Ledger ledger(transaction, context);
  return refresh(ledger, caller, *ticket);
}

std::optional<Granted> granted_meanwhile(View& view, const Context& context, const Caller& caller,
                                         const GroupId& id) {
  const std::optional<Ticket> ticket = view.ticket(id);
  if (!ticket || ticket->status != Status::active) return std::nullopt;
  if (!owns(caller, ticket->request->caller.holder.owner)) return std::nullopt;
  if (!view.notices(caller.holder.owner).empty()) return std::nullopt;
  std::optional<Granted> granted = live_grant(view, context, id, ticket->request->mode, ticket->leases);
  // What awaits its owner is to be written.
  if (!granted || std::ranges::any_of(granted->leases, awaits_its_owner)) return std::nullopt;
  granted->waited = waited(*ticket);
  return granted;
}

Result<void> cancel(Transaction& transaction, const Context& context, const Caller& caller,
                    const GroupId& id) {
  const Result<Ticket> ticket = own_ticket(transaction, caller, id);
  if (!ticket) return fail(ticket.error());
  Ledger ledger(transaction, context);
  if (ticket->status == Status::pending) {
    ledger.fail(*ticket, EndCause::cancelled);
  } else if (ticket->status == Status::active) {
    take_back(ledger, *ticket);
  }
  settle(ledger);
  return {};
}

}  // namespace leasehold
