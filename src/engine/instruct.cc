#include "engine/instruct.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/contention.h"
#include "engine/deadlock.h"
#include "engine/grant.h"
#include "engine/limits.h"
#include "engine/live.h"
#include "engine/pairing.h"
#include "engine/validate.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// A worker that died needs no word any more. One that comes back is heard of by its next call.
bool waits_for_word(const Contention& contention, Time now, const Context& context) {
  return contention.state == ContentionState::halted && now < contention.drop_at &&
         liveness_of(contention.wanted.caller.holder.process, context) != Liveness::dead;
}

// Ends what is in the way, pairs included, and gives it to the worker before anybody in the queue.
Result<void> make_way(Ledger& ledger, const std::string& workspace, const Contention& contention,
                      const InstructRequest& request, const GroupId& group) {
  Transaction& transaction = ledger.transaction();
  const Because because = {request.actor, request.reason};
  const EndCause cause =
      request.instruction == Instruction::transfer ? EndCause::transferred : EndCause::forced;
  const auto end_if_live = [&](const LeaseId& id) {
    const std::optional<Lease> lease = transaction.lease(id);
    if (lease && lease->status == Status::active) ledger.end(*lease, cause, because);
  };
  const auto in_the_way = [&] {
    Survey found = survey(transaction, ledger.context(), contention.wanted);
    record(ledger, found);
    // An operator's word goes before the queue's order.
    std::erase_if(found.blocked, [](const Blocked& blocked) { return blocked.waits; });
    return found;
  };
  Survey found = in_the_way();
  // A lease of the worker's own that is over, and that nobody had noted, hid what others have there.
  while (!found.blocked.empty()) {
    for (const Blocked& blocked : found.blocked) {
      const std::optional<Lease> lease = transaction.lease(blocked.lease_id);
      if (!lease) continue;
      for (const Lease& pair :
           only_paired_with(transaction, ledger.context(), anybody_of_session(*lease), *lease)) {
        if (pair.holder.owner != contention.owner()) end_if_live(pair.id);
      }
      end_if_live(lease->id);
    }
    found = in_the_way();
  }
  if (auto within = check_limits(ledger, contention.wanted, found); !within) return within;
  give(ledger, workspace, contention.wanted, group, found);
  fail_deadlocked_waits(ledger, contention.owner());
  settle(ledger);
  return {};
}

}  // namespace

Blockers blockers(View& view, const Context& context) {
  Blockers all = {.at = view.now(), .wall = view.wall()};
  for (Contention& contention : view.contentions({})) {
    if (!waits_for_word(contention, view.now(), context)) continue;
    all.blockers.push_back({.worker = verdict_on(contention.wanted.caller.holder, context),
                            .blocked = survey(view, context, contention.wanted).blocked});
    all.blockers.back().contention = std::move(contention);
  }
  std::ranges::sort(all.blockers, {}, [](const Blocker& blocker) {
    return std::pair(blocker.contention.retried_at, blocker.contention.id);
  });
  return all;
}

Result<Contention> instruct(Transaction& transaction, const Context& context, const std::string& workspace,
                            const InstructRequest& request, const GroupId& group) {
  if (request.reason.empty()) {
    return fail(Code::invalid_argument,
                "An instruction needs a reason; the worker will read it. Give one (reason, --reason).");
  }
  if (auto checked = check_texts(
          {{"blocker", request.id}, {"reason", request.reason}, {"operator's name", request.actor}});
      !checked) {
    return fail(checked.error());
  }
  std::vector<Contention> all = transaction.contentions({});
  const auto found = std::ranges::find(all, request.id, &Contention::id);
  if (found == all.end() || !waits_for_word(*found, transaction.now(), context)) {
    return fail(Code::not_found,
                fmt::format("No halted worker waits under {}. List those that do: lease blockers",
                            in_quotes(request.id)));
  }
  Contention& contention = *found;
  contention.instructed_by = request.actor;
  contention.instruction_reason = request.reason;
  switch (request.instruction) {
    case Instruction::retry:
      contention.may_retry = true;
      transaction.put(contention);
      break;
    case Instruction::abandon:
      contention.state = ContentionState::abandoned;
      contention.drop_at = transaction.now() + context.policy.instruction_life;
      transaction.put(contention);
      break;
    case Instruction::force:
    case Instruction::transfer: {
      Ledger ledger(transaction, context);
      if (auto made = make_way(ledger, workspace, contention, request, group); !made)
        return fail(made.error());
      break;
    }
  }
  note(transaction, contention, EventType::instructed,
       {request.actor, fmt::format("{}: {}", word(request.instruction), request.reason)});
  transaction.ring({contention.id});
  return contention;
}

}  // namespace leasehold
