#include "engine/renew.h"

#include <fmt/format.h>

#include "engine/assess.h"
#include "engine/grant.h"
#include "engine/ledger.h"
#include "engine/live.h"
#include "engine/ownership.h"
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
                    "release it and acquire it again.",
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
  // Who renews all its owner has does not know of each; what another process of the owner holds stays that
  // one's.
  if (!request.which.all || !lease->holder.process) take_process(lease->holder, request.caller.holder);
  ++lease->renewal_count;
  outcome.lease = std::move(lease);
  return outcome;
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
  Outcomes answer;
  std::vector<Target> targets = select(transaction, request.caller, request.which);
  answer.outcomes.reserve(targets.size());
  for (Target& target : targets) answer.outcomes.push_back(renew_one(ledger, request, ttl, target));
  // Written in place, so that they are answered as they are stored: an owner may have a hundred thousand.
  std::vector<Lease*> renewed;
  renewed.reserve(answer.outcomes.size());
  for (Outcome& outcome : answer.outcomes) {
    if (!outcome.error) renewed.push_back(&*outcome.lease);
  }
  if (request.which.all) {
    ledger.extend_all(request.caller.holder.owner, std::move(renewed));
  } else {
    for (Lease* lease : renewed) ledger.extend(*lease, {});
  }
  settle(ledger);
  answer.notices = take_notices(transaction, request.caller.holder.owner);
  return answer;
}

}  // namespace leasehold
