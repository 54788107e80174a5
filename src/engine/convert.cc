#include "engine/convert.h"

#include <algorithm>

#include "engine/acquire.h"
#include "engine/assess.h"
#include "engine/grant.h"
#include "engine/pairing.h"
#include "engine/validate.h"

namespace leasehold {
Result<AcquireAnswer> upgrade(Transaction& transaction, const Context& context, const std::string& workspace,
                              AcquireRequest request, const GroupId& group) {
  request.mode = Mode::exclusive;
  if (auto checked = check_request(request, context.policy); !checked) return fail(checked.error());
  Ledger ledger(transaction, context);
  for (WantedPath& wanted : request.paths) {
    Selection which;
    which.paths = {wanted.path};
    const std::vector<Target> held = select(transaction, request.caller, which);
    for (const Target& target : held) {
      if (Assessment found = assess(ledger, request.caller, target); found.error) return fail(*found.error);
    }
    // Held both alone and with all below it, the path is meant as it was named.
    const auto as_named = [&](const Target& target) { return target.lease->subtree == wanted.subtree; };
    if (std::ranges::none_of(held, as_named)) wanted.subtree = held.front().lease->subtree;
  }
  return acquire(transaction, context, workspace, request, group);
}

Result<AcquireAnswer> upgrade_one(Transaction& transaction, const Context& context,
                                  const std::string& workspace, const Caller& caller, const LeaseId& id,
                                  const std::optional<Token>& token, const GroupId& group) {
  Ledger ledger(transaction, context);
  const Target target = {id.text, transaction.lease(id)};
  if (Assessment found = assess(ledger, caller, target, token); found.error) return fail(*found.error);
  AcquireRequest request = {.caller = caller};
  request.paths = {{.path = target.lease->path, .subtree = target.lease->subtree}};
  return upgrade(transaction, context, workspace, std::move(request), group);
}

Result<Outcomes> downgrade(Transaction& transaction, const Context& context, const ReleaseRequest& request) {
  if (auto checked = check_owner(request.caller.holder.owner); !checked) return fail(checked.error());
  if (auto checked = check_selection(request.which, context.policy); !checked) return fail(checked.error());
  Ledger ledger(transaction, context);
  Outcomes answer;
  for (Target& target : select(transaction, request.caller, request.which)) {
    Outcome outcome = {.path = target.lease ? target.lease->path : target.name};
    if (Assessment found = assess(ledger, request.caller, target, request.token); found.error) {
      outcome.error = std::move(found.error);
    } else if (target.lease->mode == Mode::shared) {
      outcome.already = true;
    } else {
      for (Lease& pair : only_paired_with(transaction, context, request.caller, *target.lease)) {
        if (pair.mode == Mode::exclusive) ledger.change_mode(pair, Mode::shared);
      }
      ledger.change_mode(*target.lease, Mode::shared);
    }
    outcome.lease = std::move(target.lease);
    answer.outcomes.push_back(std::move(outcome));
  }
  settle(ledger);
  answer.notices = take_notices(transaction, request.caller.holder.owner);
  return answer;
}

}  // namespace leasehold
