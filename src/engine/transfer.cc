#include "engine/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/assess.h"
#include "engine/deadlock.h"
#include "engine/explain.h"
#include "engine/grant.h"
#include "engine/grant_token.h"
#include "engine/ledger.h"
#include "engine/limits.h"
#include "engine/live.h"
#include "engine/pairing.h"
#include "engine/selection.h"
#include "engine/validate.h"
#include "model/mode.h"
#include "util/unique.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

class Handover {
 public:
  Handover(Ledger& ledger, const TransferRequest& request)
      : ledger_(ledger), request_(request), token_(ledger.transaction()) {}

  Outcome hand_over(const Target& target) {
    const std::optional<Lease>& lease = target.lease;
    Outcome outcome = {.path = lease ? lease->path : target.name, .lease = lease};
    // An operator stands in for whoever owns the lease.
    Caller caller = request_.caller;
    if (request_.as_operator && lease) caller = anybody_of_session(*lease);
    if (Assessment found = assess(ledger_, caller, target); found.error) {
      outcome.error = std::move(found.error);
      return outcome;
    }
    if (lease->holder.owner == request_.to.owner) return outcome;
    for (const Lease& pair : only_paired_with(ledger_.transaction(), ledger_.context(), caller, *lease)) {
      if (pair.holder.owner != request_.to.owner) move(pair);
    }
    outcome.lease = move(*lease);
    return outcome;
  }

  // What the receiver holds by it now, pairs included; and who had it.
  const std::vector<Lease>& given() const { return given_; }
  const std::set<Owner>& givers() const { return givers_; }

 private:
  Lease move(const Lease& lease) {
    const std::string& giver = request_.caller.holder.owner.agent_id;
    const bool own_doing = lease.holder.owner == request_.caller.holder.owner;
    ledger_.end(lease, EndCause::transferred, {own_doing ? "" : giver, note()});
    givers_.insert(lease.holder.owner);
    std::optional<Lease> held = held_by_receiver(lease);
    given_.push_back(held ? merge(lease, std::move(*held)) : receive(lease));
    return given_.back();
  }

  Lease receive(const Lease& lease) {
    Lease moved = lease;
    moved.id = LeaseId{make_uuid(ledger_.context().random, ledger_.transaction().wall())};
    moved.holder = request_.to;
    if (moved.holder.pr_id.empty()) moved.holder.pr_id = lease.holder.pr_id;
    moved.token = token_.get();
    moved.status = Status::active;
    moved.created_at = ledger_.now();
    moved.renewal_count = 0;
    moved.attended = goes_on(lease);
    moved.idle_at.reset();
    moved.recalled_at = recall_of(lease);
    ledger_.receive(moved, {request_.caller.holder.owner.agent_id, note()});
    return moved;
  }

  // Within a session somebody else goes on with the same work, and need not say so.
  bool goes_on(const Lease& lease) const {
    const std::string& session = lease.holder.owner.session_id;
    return request_.attended && !session.empty() && session == request_.to.owner.session_id;
  }

  // What is asked back stays asked back, whoever it is handed to; only an operator can mean otherwise.
  std::optional<Time> recall_of(const Lease& lease) const {
    return request_.as_operator ? std::nullopt : lease.recalled_at;
  }

  // Where both hold the path: shared, or within a session whose members act for one another.
  std::optional<Lease> held_by_receiver(const Lease& lease) {
    for (Lease& other : ledger_.transaction().leases_at(lease.scope())) {
      if (other.scope() != lease.scope() || other.holder.owner != request_.to.owner) continue;
      const EndCause lapsed = lapse(other, ledger_.now(), ledger_.context());
      if (lapsed == EndCause::none) return std::move(other);
      ledger_.end(other, lapsed);
    }
    return std::nullopt;
  }

  // The better of both, but for a recall: that of either holds.
  Lease merge(const Lease& given, Lease held) {
    const std::optional<Time> recall = recall_of(given);
    if (recall) held.recalled_at = std::min(*recall, held.recalled_at.value_or(kForever));
    held.ttl = std::max(held.ttl, given.ttl);  // Else the next renewal would shorten it.
    held.expires_at = end_of_term(held, ledger_.now());
    held.requested |= given.requested;
    if (goes_on(given)) attend(held);
    add_missing(held.pairs, given.pairs);
    add_missing(held.paired_with, given.paired_with);
    if (held.rule.empty()) held.rule = given.rule;
    held.token = token_.get();
    ledger_.receive_more(held, std::max(held.mode, given.mode),
                         {request_.caller.holder.owner.agent_id, note()});
    return held;
  }

  void attend(Lease& held) const {
    succeed_process(held, request_.to, true, ledger_.context());
    held.attended = true;
  }

  std::string note() const {
    return request_.note.empty() ? fmt::format("handed to {}", request_.to.owner.agent_id) : request_.note;
  }

  Ledger& ledger_;
  const TransferRequest& request_;
  GrantToken token_;
  std::vector<Lease> given_;
  std::set<Owner> givers_;
};

// One token is for all of them, and newer than what was granted where the transaction has read.
void read_places(Transaction& transaction, const std::vector<Target>& targets) {
  for (const Target& target : targets) {
    if (!target.lease) continue;
    transaction.leases_at(target.lease->scope());
    for (const std::string& pair : target.lease->pairs) transaction.leases_at({pair, false});
  }
}

// What was handed over may lie inside, or around, something that a giver keeps.
Result<void> check_no_conflict(Ledger& ledger, const Handover& handover) {
  // What others of a session have overlapped before.
  const auto overlapped = [&](const Lease& lease, const Lease& other) {
    const std::string& session_id = lease.holder.owner.session_id;
    return !session_id.empty() && other.holder.owner.session_id == session_id &&
           std::ranges::all_of(handover.givers(), [&](const Owner& giver) {
             return giver.session_id == session_id && giver != other.holder.owner;
           });
  };
  for (const Lease& lease : handover.given()) {
    for (const Lease& other : ledger.transaction().leases_at(lease.scope())) {
      if (other.holder.owner == lease.holder.owner || compatible(other.mode, lease.mode)) continue;
      if (overlapped(lease, other)) continue;
      if (const EndCause lapsed = lapse(other, ledger.now(), ledger.context()); lapsed != EndCause::none) {
        ledger.end(other, lapsed);
        continue;
      }
      return fail(
          Code::busy,
          fmt::format("{} cannot be handed over alone: {} holds {}, which overlaps it. Hand over both, "
                      "or release {} first. Nothing was changed.",
                      in_sentence(lease.path), describe(other.holder), in_sentence(other.path),
                      in_sentence(other.path)));
    }
  }
  return {};
}

}  // namespace

Result<Outcomes> transfer(Transaction& transaction, const Context& context, const TransferRequest& request) {
  if (auto checked = check_owner(request.caller.holder.owner); !checked) return fail(checked.error());
  if (auto checked = check_holder(request.to); !checked) return fail(checked.error());
  if (auto checked = check_texts({{"note", request.note}}); !checked) return fail(checked.error());
  if (auto checked = check_selection(request.which, context.policy); !checked) return fail(checked.error());

  Ledger ledger(transaction, context);
  Handover handover(ledger, request);
  Outcomes answer;
  std::vector<Target> targets = request.as_operator ? select_of_anybody(transaction, request.which)
                                                    : select(transaction, request.caller, request.which);
  read_places(transaction, targets);
  for (Target& target : targets) {
    if (target.lease) {
      const bool was_active = target.lease->status == Status::active;
      target.lease = transaction.lease(target.lease->id);
      // A pair may have moved with its source already.
      if (was_active && target.lease && target.lease->ended_by == EndCause::transferred) continue;
    }
    answer.outcomes.push_back(handover.hand_over(target));
  }
  if (auto checked = check_no_conflict(ledger, handover); !checked) return fail(checked.error());
  if (!handover.given().empty()) {
    if (auto checked = check_receiver(ledger, request.to.owner); !checked) return fail(checked.error());
  }
  settle(ledger);
  // The receiver may wait for somebody who waits for what it now holds.
  fail_deadlocked_waits(ledger, request.to.owner);
  settle(ledger);
  // What the receiver waited for may have made it stronger since.
  for (Outcome& outcome : answer.outcomes) {
    if (outcome.lease) outcome.lease = transaction.lease(outcome.lease->id);
  }
  answer.notices = take_notices(transaction, request.caller.holder.owner);
  return answer;
}

}  // namespace leasehold
