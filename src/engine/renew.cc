#include "engine/renew.h"

#include <fmt/format.h>

#include <set>

#include "engine/assess.h"
#include "engine/grant.h"
#include "engine/ledger.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/pairing.h"
#include "engine/records_at.h"
#include "engine/selection.h"
#include "engine/validate.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// What happened to the target; its lease is brought up to date if it may be renewed.
Outcome renew_one(Ledger& ledger, const RenewRequest& request, const std::optional<CheckedTtl>& ttl,
                  Target& target) {
  std::optional<Lease>& lease = target.lease;
  Outcome outcome = {.path = lease ? lease->path : target.name};
  if (Assessment found = assess(ledger, request.caller, target, request.token); found.error) {
    outcome.error = std::move(found.error);
    const bool was_held = found.standing != Standing::not_owner && outcome.error->code != Code::not_found;
    if (was_held) {
      // As it is now: looking may have ended it.
      ledger.refuse_renewal(ledger.transaction().lease(lease->id).value_or(*lease), outcome.error->message);
    }
    return outcome;
  }
  if (lease->max_renewals >= 0 && lease->renewal_count >= lease->max_renewals) {
    outcome.error = Error{
        Code::max_renewals_exceeded,
        fmt::format("The lease on {} was renewed {} times, as often as it may be. Finish by its end, or "
                    "acquire it again before: it stays yours.",
                    in_sentence(lease->path), lease->renewal_count)};
    ledger.refuse_renewal(*lease, outcome.error->message);
    return outcome;
  }
  if (ttl) {
    lease->ttl = ttl->ttl;
    outcome.ttl_clamped = ttl->clamped;
  }
  lease->expires_at = end_of_term(*lease, ledger.now());
  lease->last_heartbeat_at = ledger.now();
  ++lease->renewal_count;
  outcome.lease = std::move(lease);
  return outcome;
}

void extend(Ledger& ledger, const RenewRequest& request, Outcome& outcome) {
  if (outcome.error) return;
  take_process(outcome.lease->holder, request.caller.holder);
  ledger.extend(*outcome.lease, {});
}

// The tests that came along with a path stay as long as it does.
void renew_pairs(Ledger& ledger, RenewRequest request, const std::optional<CheckedTtl>& ttl,
                 const std::vector<Outcome>& renewed) {
  request.token.reset();  // That of the named lease.
  std::set<LeaseId> done;
  for (const Outcome& outcome : renewed) {
    if (outcome.lease) done.insert(outcome.lease->id);
  }
  for (const Outcome& outcome : renewed) {
    if (outcome.error) continue;
    for (Lease& pair : live_pairs(ledger.transaction(), ledger.context(), *outcome.lease)) {
      if (!done.insert(pair.id).second) continue;
      Target target = {pair.path, std::move(pair)};
      Outcome of_pair = renew_one(ledger, request, ttl, target);
      extend(ledger, request, of_pair);
    }
  }
}

std::vector<Outcome> renew_named(Ledger& ledger, const RenewRequest& request,
                                 const std::optional<CheckedTtl>& ttl) {
  std::vector<Outcome> outcomes;
  for (Target& target : select(ledger.transaction(), request.caller, request.which))
    outcomes.push_back(renew_one(ledger, request, ttl, target));
  for (Outcome& outcome : outcomes) extend(ledger, request, outcome);
  // Who names ids names them all.
  if (!request.which.paths.empty()) renew_pairs(ledger, request, ttl, outcomes);
  return outcomes;
}

// An owner may have a hundred thousand: they are answered by path, but written as the store has them, and in
// place, so that they are answered as they are stored.
std::vector<Outcome> renew_all(Ledger& ledger, const RenewRequest& request,
                               const std::optional<CheckedTtl>& ttl) {
  std::vector<Lease> leases = own_leases(ledger.transaction(), request.caller, request.which);
  std::vector<Outcome> outcomes;
  outcomes.reserve(leases.size());
  std::vector<Lease*> renewed(leases.size());
  for (Lease* lease : order_by_path(leases)) {
    Target target = {lease->path, std::move(*lease)};
    Outcome& outcome = outcomes.emplace_back(renew_one(ledger, request, ttl, target));
    if (outcome.error) continue;
    // Who renews all its owner has does not know of each. What another process of the owner holds stays that
    // one's, and what hangs on none must not end with this one.
    renewed[static_cast<std::size_t>(lease - leases.data())] = &*outcome.lease;
  }
  std::erase(renewed, nullptr);
  ledger.extend_all(request.caller.holder.owner, renewed);
  return outcomes;
}

}  // namespace

Result<Outcomes> renew(Transaction& transaction, const Context& context, const RenewRequest& request) {
  if (auto checked = check_holder(request.caller.holder); !checked) return fail(checked.error());
  if (auto checked = check_selection(request.which, context.policy); !checked) return fail(checked.error());
  std::optional<CheckedTtl> ttl;
  if (request.ttl) {
    const Result<CheckedTtl> checked = check_ttl(*request.ttl, context.policy);
    if (!checked) return fail(checked.error());
    ttl = *checked;
  }

  Ledger ledger(transaction, context);
  Outcomes answer = {.outcomes = request.which.all ? renew_all(ledger, request, ttl)
                                                   : renew_named(ledger, request, ttl)};
  settle(ledger);
  answer.notices = take_notices(transaction, request.caller.holder.owner);
  return answer;
}

}  // namespace leasehold
