#include "engine/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/assess.h"
#include "engine/explain.h"
#include "engine/grant.h"
#include "engine/ledger.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/pairing.h"
#include "engine/selection.h"
#include "engine/sessions.h"
#include "engine/validate.h"
#include "util/unique.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

void cancel_waits(Ledger& ledger, const Caller& caller, const Selection& which) {
  for (const Ticket& ticket : ledger.transaction().tickets(filter_of_own(caller, which))) {
    if (owns(caller, ticket.request->caller.holder.owner)) ledger.fail(ticket, EndCause::cancelled);
  }
}

// Empty for an owner that acts for itself.
std::string actor_of(const Caller& caller, const Lease& lease) {
  return caller.holder.owner == lease.holder.owner ? "" : caller.holder.owner.agent_id;
}

// What was leased only because of `source` goes with it.
void release_pairs(Ledger& ledger, const Caller& caller, const Lease& source, std::vector<LeaseId>& along) {
  for (const Lease& only_paired : detach_pairs(ledger, caller, source)) {
    along.push_back(only_paired.id);
    ledger.end(only_paired, EndCause::released,
               {actor_of(caller, only_paired), fmt::format("paired with {}", source.path)});
  }
}

// `along` are those that went with another one.
Outcome release_one(Ledger& ledger, const ReleaseRequest& request, const Target& target,
                    std::vector<LeaseId>& along) {
  const std::optional<Lease>& lease = target.lease;
  Outcome outcome = {.path = lease ? lease->path : target.name};
  Assessment found = assess(ledger, request.caller, target, request.token);
  switch (found.standing) {
    case Standing::own_live:
      release_pairs(ledger, request.caller, *lease, along);
      ledger.end(*lease, EndCause::released, {actor_of(request.caller, *lease), {}});
      break;
    case Standing::own_pending:
      if (const auto ticket = ledger.transaction().ticket(lease->group_id))
        ledger.fail(*ticket, EndCause::cancelled);
      break;
    case Standing::own_ended:
      give_up(ledger.transaction(), ledger.context().policy, *lease);
      // Its pairs may have been renewed by themselves.
      if (const auto ended = ledger.transaction().lease(lease->id))
        release_pairs(ledger, request.caller, *ended, along);
      outcome.already = true;
      break;
    case Standing::own_failed:
    case Standing::transferred:
      outcome.already = true;
      break;
    default:
      outcome.error = std::move(found.error);
  }
  if (lease) outcome.lease = ledger.transaction().lease(lease->id);
  return outcome;
}

// Whoever comes to wait behind one who got a path for itself waits for that one, and would have before. But
// who gave something back and waits for it too, waits for others now, and they may wait for it.
void let_lines_grow(Ledger& ledger) {
  if (ledger.has_searched()) return;
  for (const Ticket& granted : ledger.granted()) {
    if (granted.request->mode != Mode::exclusive) continue;
    for (const WantedPath& wanted : granted.request->paths) {
      if (!wanted.subtree) ledger.transaction().let_line_grow(wanted.path);
    }
  }
}

Error only_waits(const std::string& name, const Lease& lease) {
  return {Code::not_found,
          fmt::format(
              "{} is not held: {} waits for {}. Only a lease can be taken by force; its owner can give up "
              "the wait with: lease release --id {}",
              in_sentence(name), describe(lease.holder), in_sentence(lease.path), lease.id.text)};
}

// Ends or recalls one lease, with what pairing added for it: whoever needs the path needs those too.
// `recalled` are those that were recalled by the same request, `along` those that ended with another one.
Outcome force_one(Ledger& ledger, const ForceReleaseRequest& request, const Target& target,
                  std::set<LeaseId>& recalled, std::vector<LeaseId>& along) {
  const std::optional<Lease>& lease = target.lease;
  Outcome outcome = {.path = lease ? lease->path : target.name};
  if (!lease) {
    outcome.error = refusal(Standing::not_found, target.name, lease, EndCause::none);
    return outcome;
  }
  if (lease->status == Status::pending) {
    outcome.error = only_waits(target.name, *lease);
    return outcome;
  }
  const bool active = lease->status == Status::active;
  const EndCause lapsed = active ? lapse(*lease, ledger.now(), ledger.context()) : EndCause::none;
  const Because because = {request.actor, request.reason};
  if (!active || lapsed != EndCause::none) {
    if (active) ledger.end(*lease, lapsed);
    outcome.already = true;
  } else if (request.recall) {
    std::vector<Lease> leases =
        only_paired_with(ledger.transaction(), ledger.context(), anybody_of_session(*lease), *lease);
    leases.push_back(*lease);
    for (Lease& one : leases) {
      if (recalled.insert(one.id).second)
        ledger.recall(one, ledger.now() + at_most_a_year(*request.recall), because);
    }
  } else {
    for (const Lease& only_paired : detach_pairs(ledger, anybody_of_session(*lease), *lease)) {
      along.push_back(only_paired.id);
      ledger.end(only_paired, EndCause::forced, because);
    }
    ledger.end(*lease, EndCause::forced, because);
  }
  outcome.lease = ledger.transaction().lease(lease->id);
  return outcome;
}

// Does `act` to each target as it is by then. Ending one lease may have ended another that was paired with
// it: that one was done just now, too, and not before.
template <class Act>
std::vector<Outcome> each(Ledger& ledger, const std::vector<Target>& targets, EndCause done, const Act& act) {
  std::vector<Outcome> outcomes;
  for (const Target& target : targets) {
    const std::optional<Lease>& before = target.lease;
    Outcome outcome =
        act(Target{target.name, before ? ledger.transaction().lease(before->id) : std::nullopt});
    const bool just_now =
        before && before->status == Status::active && outcome.lease && outcome.lease->ended_by == done;
    outcome.already = outcome.already && !just_now;
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

// Nobody named these, and they are told behind those that were named.
void tell_along(Ledger& ledger, const std::vector<LeaseId>& along, std::vector<Outcome>& outcomes) {
  std::set<LeaseId> told;
  for (const Outcome& outcome : outcomes) {
    if (outcome.lease) told.insert(outcome.lease->id);
  }
  for (const LeaseId& id : along) {
    if (!told.insert(id).second) continue;
    const std::optional<Lease> lease = ledger.transaction().lease(id);
    if (lease) outcomes.push_back({.path = lease->path, .lease = lease});
  }
}

}  // namespace

Result<Outcomes> release(Transaction& transaction, const Context& context, const ReleaseRequest& request) {
  if (auto checked = check_owner(request.caller.holder.owner); !checked) return fail(checked.error());
  if (auto checked = check_selection(request.which, context.policy); !checked) return fail(checked.error());
  Ledger ledger(transaction, context);
  Outcomes answer;
  std::vector<LeaseId> along;
  answer.outcomes = each(ledger, select(transaction, request.caller, request.which), EndCause::released,
                         [&](const Target& target) { return release_one(ledger, request, target, along); });
  tell_along(ledger, along, answer.outcomes);
  if (request.which.ids.empty() && request.which.paths.empty())
    cancel_waits(ledger, request.caller, request.which);
  // A session that gives back everything does not want back what had run out either.
  if (request.caller.whole_session && (request.which.all || request.which.session_id))
    give_up_all(transaction, request.caller.holder.owner.session_id);
  settle(ledger);
  let_lines_grow(ledger);
  // Who gives some back is not about to write: a loss elsewhere is kept for the call that it matters to.
  const bool names_some = !request.which.paths.empty() || !request.which.ids.empty();
  answer.notices = take_notices(transaction, request.caller.holder.owner, [&](const Notice& notice) {
    return !names_some || notice.received || contains(request.which.paths, notice.path) ||
           contains(request.which.ids, notice.lease_id);
  });
  return answer;
}

Result<Outcomes> force_release(Transaction& transaction, const Context& context,
                               const ForceReleaseRequest& request) {
  if (auto checked = check_selection(request.which, context.policy); !checked) return fail(checked.error());
  if (request.reason.empty()) {
    return fail(
        Code::invalid_argument,
        "Ending somebody else's lease needs a reason; its owner will read it. Give one (reason, --reason).");
  }
  if (auto checked = check_texts({{"reason", request.reason}, {"operator's name", request.actor}});
      !checked) {
    return fail(checked.error());
  }
  if (request.recall && *request.recall <= Duration::zero()) {
    return fail(Code::invalid_argument,
                "The time to give it back must be positive. Leave it out to end the lease now.");
  }
  Ledger ledger(transaction, context);
  Outcomes answer;
  std::set<LeaseId> recalled;
  std::vector<LeaseId> along;
  answer.outcomes =
      each(ledger, select_of_anybody(transaction, request.which), EndCause::forced,
           [&](const Target& target) { return force_one(ledger, request, target, recalled, along); });
  tell_along(ledger, along, answer.outcomes);
  settle(ledger);
  return answer;
}

}  // namespace leasehold
