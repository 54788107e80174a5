#include "engine/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/acquire.h"
#include "engine/assess.h"
#include "engine/explain.h"
#include "engine/grant.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/pairing.h"
#include "engine/records_at.h"
#include "engine/validate.h"
#include "model/scope.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// Why the caller has no lease on the path to upgrade, though it may be used: it is part of a folder that it
// leased as a whole. Nothing: it is not.
std::optional<Error> part_of_own_folder(View& view, const Context& context, const Caller& caller,
                                        const Scope& wanted) {
  for (const Lease& lease : by_path(view.leases_at(wanted))) {
    if (lease.path == wanted.path || !covers(lease.scope(), wanted)) continue;
    if (!owns(caller, lease.holder.owner)) continue;
    if (lapse(lease, view.now(), context) != EndCause::none) continue;
    const std::string next = lease.mode == Mode::exclusive
                                 ? "There is nothing to upgrade."
                                 : fmt::format("To have it exclusively: lease acquire {}{}",
                                               wanted.subtree ? "--subtree " : "", as_argument(wanted.path));
    return Error{Code::not_found,
                 fmt::format("You hold {} only as part of your {} lease on {} and all below. {}",
                             in_sentence(wanted.path), word(lease.mode), in_sentence(lease.path), next)};
  }
  return std::nullopt;
}

}  // namespace

Result<AcquireAnswer> upgrade(Transaction& transaction, const Context& context, const std::string& workspace,
                              AcquireRequest request, const GroupId& group) {
  request.mode = Mode::exclusive;
  if (auto checked = check_request(request, context.policy); !checked) return fail(checked.error());
  Ledger ledger(transaction, context);
  std::vector<WantedPath> upgraded;
  for (WantedPath& wanted : request.paths) {
    Selection which;
    which.paths = {wanted.path};
    const std::vector<Target> held = select(transaction, request.caller, which);
    std::optional<Error> why_not;
    for (const Target& target : held) {
      if (!why_not) why_not = assess(ledger, request.caller, target).error;
    }
    // A test need not have come along with its source.
    if (why_not && !wanted.requested) continue;
    if (why_not) {
      return fail(
          part_of_own_folder(transaction, context, request.caller, wanted.scope()).value_or(*why_not));
    }
    // Held both alone and with all below it, the path is meant as it was named.
    const auto as_named = [&](const Target& target) { return target.lease->subtree == wanted.subtree; };
    if (std::ranges::none_of(held, as_named)) wanted.subtree = held.front().lease->subtree;
    upgraded.push_back(std::move(wanted));
  }
  request.paths = std::move(upgraded);
  settle(ledger);
  return acquire(transaction, context, workspace, request, group);
}

Result<AcquireAnswer> upgrade_one(Transaction& transaction, const Context& context,
                                  const std::string& workspace, const Caller& caller, const LeaseId& id,
                                  const std::optional<Token>& token, const GroupId& group) {
  Ledger ledger(transaction, context);
  const Target target = {id.text, transaction.lease(id)};
  if (Assessment found = assess(ledger, caller, target, token); found.error) return fail(*found.error);
  settle(ledger);
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
    // Its source may have taken it along just now.
    const bool was_shared = target.lease && target.lease->mode == Mode::shared;
    if (target.lease) target.lease = transaction.lease(target.lease->id);
    if (Assessment found = assess(ledger, request.caller, target, request.token); found.error) {
      outcome.error = std::move(found.error);
    } else if (target.lease->mode == Mode::shared) {
      outcome.already = was_shared;
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
