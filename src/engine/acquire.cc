#include "engine/acquire.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/deadlock.h"
#include "engine/explain.h"
#include "engine/grant.h"
#include "engine/idempotency.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/survey.h"
#include "engine/validate.h"

namespace leasehold {
namespace {

// What is over does not count, and nobody may have recorded it yet.
std::size_t count_live_leases(Ledger& ledger, const Owner& owner) {
  for (const Lease& lease :
       ledger.transaction().leases({.agent_id = owner.agent_id, .session_id = owner.session_id})) {
    if (const EndCause cause = lapse(lease, ledger.now(), ledger.context()); cause != EndCause::none) {
      ledger.end(lease, cause);
    }
  }
  return ledger.transaction().lease_count(owner);
}

std::size_t count_live_waiters(View& view, const Context& context, const Scope& scope) {
  const auto is_live = [&](const Ticket& ticket) { return lapse(ticket, view.now(), context) == EndCause::none; };
  return static_cast<std::size_t>(std::ranges::count_if(view.tickets_at(scope), is_live));
}

Result<void> check_limits(Ledger& ledger, const AcquireRequest& request, const Survey& found) {
  const Policy& policy = ledger.context().policy;
  const auto is_new = [](const Survey::Place& place) { return !place.own; };
  const auto wanted = static_cast<std::size_t>(std::ranges::count_if(found.places, is_new));
  const Owner& owner = request.caller.holder.owner;
  std::size_t held = ledger.transaction().lease_count(owner);
  if (held + wanted > policy.leases_per_owner_max) held = count_live_leases(ledger, owner);
  if (held + wanted > policy.leases_per_owner_max) {
    return fail(Code::limit_exceeded,
                fmt::format("{} holds {} leases and asked for {} more; the limit is {}. Release some first: "
                            "lease release --all",
                            owner.agent_id, held, wanted, policy.leases_per_owner_max));
  }
  if (!request.wait || found.blocked.empty()) return {};
  for (const WantedPath& path : request.paths) {
    const std::size_t waiting = count_live_waiters(ledger.transaction(), ledger.context(), path.scope());
    if (waiting >= policy.waiters_per_path_max) {
      return fail(Code::limit_exceeded,
                  fmt::format("{} requests wait for {} already, and no more may. Try again later.", waiting, path.path));
    }
  }
  return {};
}

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
  std::string message = explain_blocked(request, found.blocked, now);
  return {Code::busy, std::move(message), std::move(found.blocked)};
}

// Queues the request, unless it would wait for itself.
Decision queue(Ledger& ledger, const std::string& workspace, const AcquireRequest& request, const GroupId& group,
               Survey found) {
  Ticket ticket = new_ticket(ledger.transaction(), ledger.context(), workspace, request, group, found.upgrade);
  const auto cycle = find_cycle(ledger.transaction(), ledger.context(), ticket, found.blocked);
  if (!cycle.empty()) {
    return Refused{Code::deadlock,
                   fmt::format("Waiting would never end: {}. Release what you hold, or stop waiting, and ask again.",
                               describe(cycle)),
                   std::move(found.blocked)};
  }
  ledger.enqueue(ticket);
  return place_in_queue(ticket, std::move(found), ledger.now());
}

Decision decide(Ledger& ledger, const std::string& workspace, const AcquireRequest& request, const GroupId& group,
                Survey found) {
  if (!found.blocked.empty()) {
    return request.wait ? queue(ledger, workspace, request, group, std::move(found))
                        : refused(request, std::move(found), ledger.now());
  }
  Granted granted = {.group_id = group, .leases = give(ledger, workspace, request, group, found)};
  // By its priority it passed somebody who waits; if its owner waits for that one, its wait gives way.
  if (found.overtakes) fail_deadlocked_waits(ledger, request.caller.holder.owner);
  return granted;
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

std::string failure_message(const Ticket& ticket, const std::vector<Blocked>& blocked, Time now) {
  const auto waited = std::chrono::duration_cast<Duration>(ticket.ended_at - ticket.arrival);
  if (ticket.ended_by == EndCause::timed_out && blocked.empty()) {
    return fmt::format("Waited {}, which was all it was given. Nobody is in the way now. Ask again.", describe(waited));
  }
  if (ticket.ended_by == EndCause::timed_out) {
    return fmt::format("Waited {}, and still: {}", describe(waited), explain_blocked(ticket.request, blocked, now));
  }
  return fmt::format("The wait ended after {}: {}. Ask again.", describe(waited), describe(ticket.ended_by));
}

// The answer to a ticket that waits no more.
Decision outcome(Transaction& transaction, const Context& context, const Ticket& ticket) {
  if (ticket.status == Status::active) {
    if (auto granted = live_grant(transaction, context, ticket.id, ticket.leases)) return std::move(*granted);
    const auto ago = std::chrono::duration_cast<Duration>(transaction.now() - ticket.ended_at);
    return Refused{Code::lost, fmt::format("It was granted {} ago and is over, at least in part. Ask again.", describe(ago)), {}};
  }
  Survey found = survey(transaction, context, ticket.request, &ticket);
  std::string message = failure_message(ticket, found.blocked, transaction.now());
  return Refused{failure_code(ticket.ended_by), std::move(message), std::move(found.blocked)};
}

Result<Ticket> own_ticket(Transaction& transaction, const Caller& caller, const GroupId& id) {
  const std::optional<Ticket> ticket = transaction.ticket(id);
  if (!ticket) {
    return fail(Code::not_found, fmt::format("No request waits under {}. Ask again with lease acquire.", id.text));
  }
  if (!owns(caller, ticket->request.caller.holder.owner)) {
    return fail(Code::not_owner, fmt::format("The request {} is {}'s, not yours.", id.text,
                                             describe(ticket->request.caller.holder)));
  }
  return *ticket;
}

}  // namespace

Footprint footprint_of(const std::string& workspace, const AcquireRequest& request) {
  Footprint footprint = {.workspace = workspace, .owners = {request.caller.holder.owner}};
  for (const WantedPath& wanted : request.paths) footprint.scopes.push_back(wanted.scope());
  return footprint;
}

Result<AcquireAnswer> acquire(Transaction& transaction, const Context& context, const std::string& workspace,
                              const AcquireRequest& asked, const GroupId& group) {
  const Result<CheckedRequest> checked = check_request(asked, context.policy);
  if (!checked) return fail(checked.error());
  const AcquireRequest& request = checked->request;
  const Owner& owner = request.caller.holder.owner;

  if (auto earlier = replay(transaction, context, request); !earlier) {
    return fail(earlier.error());
  } else if (*earlier) {
    return AcquireAnswer{std::move(**earlier), take_notices(transaction, owner)};
  }

  Ledger ledger(transaction, context);
  Survey found = survey_and_record(ledger, request);
  if (auto within = check_limits(ledger, request, found); !within) return fail(within.error());

  const bool may_let_own_go = found.same_owner_waits;
  Decision decision = decide(ledger, workspace, request, group, std::move(found));
  settle(ledger);
  if (auto* granted = std::get_if<Granted>(&decision)) {
    granted->ttl_clamped = checked->ttl_clamped;
    // A request of its own that went with it may have upgraded these leases under another token.
    for (Lease& lease : granted->leases) {
      if (may_let_own_go) lease = transaction.lease(lease.id).value_or(lease);
    }
  }
  remember(transaction, context, request, checked->ttl_clamped, decision);
  return AcquireAnswer{std::move(decision), take_notices(transaction, owner)};
}

Result<AcquireAnswer> poll(Transaction& transaction, const Context& context, const Caller& caller, const GroupId& id) {
  Result<Ticket> ticket = own_ticket(transaction, caller, id);
  if (!ticket) return fail(ticket.error());
  const Owner& owner = caller.holder.owner;

  if (ticket->status == Status::pending) {
    Ledger ledger(transaction, context);
    const Time now = transaction.now();
    const Time proven_until = now + context.policy.waiter_silence;
    const bool was_silent = ticket->proven_until <= now;
    if (const EndCause cause = lapse(*ticket, now, context); cause == EndCause::timed_out) {
      ledger.fail(*ticket, cause);
    } else if (ticket->proven_until < now + context.policy.waiter_silence / 2) {
      ticket->proven_until = proven_until;
      transaction.put(*ticket);
    }
    const Survey found = survey(transaction, context, ticket->request, &*ticket);
    record(ledger, found);
    // A store may have dropped a lease without a transaction of ours to see it.
    if (found.blocked.empty()) ledger.free(ticket->request);
    settle(ledger);
    ticket = *transaction.ticket(id);
    // While it was silent it did not count, and others may have come to wait for its owner.
    if (was_silent && ticket->status == Status::pending) {
      fail_deadlocked_waits(ledger, ticket->request.caller.holder.owner);
      settle(ledger);
      ticket = *transaction.ticket(id);
    }
  }
  if (ticket->status != Status::pending) {
    return AcquireAnswer{outcome(transaction, context, *ticket), take_notices(transaction, owner)};
  }
  Survey found = survey(transaction, context, ticket->request, &*ticket);
  return AcquireAnswer{place_in_queue(*ticket, std::move(found), transaction.now()), take_notices(transaction, owner)};
}

Result<void> cancel(Transaction& transaction, const Context& context, const Caller& caller, const GroupId& id) {
  const Result<Ticket> ticket = own_ticket(transaction, caller, id);
  if (!ticket) return fail(ticket.error());
  Ledger ledger(transaction, context);
  if (ticket->status == Status::pending) {
    ledger.fail(*ticket, EndCause::cancelled);
  } else if (ticket->status == Status::active) {
    for (const LeaseId& lease_id : ticket->leases) {
      const std::optional<Lease> lease = transaction.lease(lease_id);
      // What the owner held before this request stays.
      if (lease && lease->status == Status::active && lease->group_id == id) {
        ledger.end(*lease, EndCause::released, {{}, "the wait was cancelled"});
      }
    }
  }
  settle(ledger);
  return {};
}

}  // namespace leasehold
