#include "engine/release.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/assess.h"
#include "engine/grant.h"
#include "engine/ledger.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/pairing.h"
#include "engine/selection.h"
#include "engine/validate.h"

namespace leasehold {
namespace {

void cancel_waits(Ledger& ledger, const Caller& caller, const Selection& which) {
  for (const Ticket& ticket : ledger.transaction().tickets(
           {.agent_id = which.agent_id, .session_id = which.session_id, .pr_id = which.pr_id})) {
    if (owns(caller, ticket.request.caller.holder.owner)) ledger.fail(ticket, EndCause::cancelled);
  }
}

// Empty for an owner that acts for itself.
std::string actor_of(const Caller& caller, const Lease& lease) {
  return caller.holder.owner == lease.holder.owner ? "" : caller.holder.owner.agent_id;
}

Outcome release_one(Ledger& ledger, const ReleaseRequest& request, const Target& target) {
  const std::optional<Lease>& lease = target.lease;
  Outcome outcome = {.path = lease ? lease->path : target.name};
  Assessment found = assess(ledger, request.caller, target, request.token);
  switch (found.standing) {
    case Standing::own_live: {
      const std::string actor = actor_of(request.caller, *lease);
      for (const Lease& only_paired : detach_pairs(ledger.transaction(), ledger.context(), *lease)) {
        ledger.end(only_paired, EndCause::released, {actor, fmt::format("paired with {}", lease->path)});
      }
      ledger.end(*lease, EndCause::released, {actor, {}});
      break;
    }
    case Standing::own_pending:
      if (const auto ticket = ledger.transaction().ticket(lease->group_id)) ledger.fail(*ticket, EndCause::cancelled);
      break;
    case Standing::own_ended:
    case Standing::transferred:
      outcome.already = true;
      break;
    default:
      outcome.error = std::move(found.error);
  }
  if (lease) outcome.lease = ledger.transaction().lease(lease->id);
  return outcome;
}

// Ends or recalls one lease, with what pairing added for it: whoever needs the path needs those too.
Outcome force_one(Ledger& ledger, const ForceReleaseRequest& request, const Target& target) {
  const std::optional<Lease>& lease = target.lease;
  Outcome outcome = {.path = lease ? lease->path : target.name};
  if (!lease) {
    outcome.error = refusal(Standing::not_found, target.name, lease, EndCause::none);
    return outcome;
  }
  const bool active = lease->status == Status::active;
  const EndCause lapsed = active ? lapse(*lease, ledger.now(), ledger.context()) : EndCause::none;
  const Because because = {request.actor, request.reason};
  if (!active || lapsed != EndCause::none) {
    if (active) ledger.end(*lease, lapsed);
    outcome.already = true;
  } else if (request.recall) {
    std::vector<Lease> leases = only_paired_with(ledger.transaction(), ledger.context(), *lease);
    leases.push_back(*lease);
    for (Lease& one : leases) ledger.recall(one, ledger.now() + at_most_a_year(*request.recall), because);
  } else {
    for (const Lease& only_paired : detach_pairs(ledger.transaction(), ledger.context(), *lease)) {
      ledger.end(only_paired, EndCause::forced, because);
    }
    ledger.end(*lease, EndCause::forced, because);
  }
  outcome.lease = ledger.transaction().lease(lease->id);
  return outcome;
}

}  // namespace

Result<Outcomes> release(Transaction& transaction, const Context& context, const ReleaseRequest& request) {
  if (auto checked = check_owner(request.caller.holder.owner); !checked) return fail(checked.error());
  if (auto checked = check_selection(request.which); !checked) return fail(checked.error());
  Ledger ledger(transaction, context);
  Outcomes answer;
  for (const Target& target : select(transaction, request.caller, request.which)) {
    // Releasing one path may have released another one that was paired with it.
    const Target current = {target.name, target.lease ? transaction.lease(target.lease->id) : std::nullopt};
    Outcome outcome = release_one(ledger, request, current);
    const bool just_now = target.lease && target.lease->status == Status::active && outcome.lease &&
                          outcome.lease->ended_by == EndCause::released;
    outcome.already = outcome.already && !just_now;
    answer.outcomes.push_back(std::move(outcome));
  }
  if (request.which.ids.empty() && request.which.paths.empty()) cancel_waits(ledger, request.caller, request.which);
  settle(ledger);
  answer.notices = take_notices(transaction, request.caller.holder.owner);
  return answer;
}

Result<Outcomes> force_release(Transaction& transaction, const Context& context, const ForceReleaseRequest& request) {
  if (auto checked = check_selection(request.which); !checked) return fail(checked.error());
  if (request.reason.empty()) {
    return fail(Code::invalid_argument, "Ending somebody else's lease needs a reason; its owner will read it. Use --reason.");
  }
  if (auto checked = check_texts({{"reason", request.reason}, {"operator's name", request.actor}}); !checked) {
    return fail(checked.error());
  }
  if (request.recall && *request.recall <= Duration::zero()) {
    return fail(Code::invalid_argument, "The time to give it back must be positive. Leave it out to end the lease now.");
  }
  Ledger ledger(transaction, context);
  Outcomes answer;
  for (const Target& target : select_of_anybody(transaction, request.which)) {
    // Ending one lease may have ended another one that was paired with it.
    const Target current = {target.name, target.lease ? transaction.lease(target.lease->id) : std::nullopt};
    Outcome outcome = force_one(ledger, request, current);
    const bool just_now = target.lease && target.lease->status == Status::active && outcome.lease &&
                          outcome.lease->ended_by == EndCause::forced;
    outcome.already = outcome.already && !just_now;
    answer.outcomes.push_back(std::move(outcome));
  }
  settle(ledger);
  return answer;
}

}  // namespace leasehold
