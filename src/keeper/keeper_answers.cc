// What a keeper makes of the answers it gets.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "keeper/keeper_state.h"

namespace leasehold {
namespace {

// Ended because nobody was heard of in time; an outage does that. Everything else was somebody's decision.
bool comes_back(EndCause cause) {
  return cause == EndCause::none || cause == EndCause::expired || cause == EndCause::silent;
}

// Worth asking again, with the same words.
bool is_passing(Code code) {
  switch (code) {
    case Code::unavailable:
    case Code::outcome_unknown:
    case Code::transaction_conflict:
    case Code::rate_limited:
    case Code::corrupt:
      return true;
    default:
      return false;
  }
}

// How the store says it ended; none if it does not say.
EndCause cause_of(const Outcome& outcome, const LeaseId& id, const std::vector<Notice>& notices) {
  if (outcome.lease && outcome.lease->ended_by != EndCause::none) return outcome.lease->ended_by;
  for (const Notice& notice : notices) {
    // A recall is announced by a notice, too, while the lease goes on.
    if (notice.lease_id == id && !notice.received && notice.cause != EndCause::recalled) return notice.cause;
  }
  return EndCause::none;
}

// Which lease an outcome is about. A refusal may come without a lease; then the order of the ids tells.
LeaseId subject(const RenewCall& call, const std::vector<Outcome>& outcomes, std::size_t i) {
  if (outcomes[i].lease) return outcomes[i].lease->id;
  const bool one_each = call.request.which.ids == call.ids && outcomes.size() == call.ids.size();
  return one_each ? call.ids[i] : LeaseId{};
}

}  // namespace

void KeeperState::refresh(Kept& kept, const Lease& lease, const Exchange& times) {
  // Tokens rise: an answer with a smaller one is from before the lease was upgraded.
  if (lease.token < kept.lease.token || lease.path != kept.lease.path) {
    renew_soon(kept, times.answered_at);
    return;
  }
  LocalTime until = valid_until(lease, times.asked_at);
  // Two calls at once, and nobody knows which the store decided last. Both answers were true; but if one says
  // that the lease ends early, that holds.
  if (times.asked_at < kept.heard_at) {
    const bool cautious = is_capped(lease) || is_capped(kept.lease);
    until = cautious ? std::min(until, kept.valid_until) : std::max(until, kept.valid_until);
  }
  const bool is_recalled = lease.recalled_at && !kept.lease.recalled_at;
  if (times.asked_at >= kept.asked_at) kept.lease = lease;
  kept.asked_at = std::max(kept.asked_at, times.asked_at);
  kept.heard_at = std::max(kept.heard_at, times.answered_at);
  kept.valid_until = until;
  const bool is_valid = until > times.answered_at;
  if (!is_valid) {
    // The answer came too late, or the lease is about to end: it will be clear soon.
    renew_soon(kept, times.answered_at);
    return;
  }
  const LocalDuration pause = renew_after(lease.ttl, random_);
  kept.renew_at = times.asked_at + pause;
  kept.renew_from = times.asked_at + pause / 2;
  if (kept.told == Told::over) tell(KeeperEventType::recovered, kept);
  kept.told = Told::valid;
  kept.previous = lease.id;
  if (is_recalled) {
    tell(KeeperEventType::ending, kept,
         Error{Code::lost,
               fmt::format("The lease on {} was asked back. Finish, and release it.", lease.path)});
  }
}

void KeeperState::answered(const RenewCall& call, const Result<Outcomes>& answer, const Exchange& times) {
  if (!answer) {
    if (answer.error().code == Code::limit_exceeded && may_ask_for_less(call)) return;
    missed(answer.error(), times.answered_at);
    return;
  }
  reached();
  std::set<LeaseId> heard_of;
  std::set<LeaseId> renewed;
  for (std::size_t i = 0; i < answer->outcomes.size(); ++i) {
    const Outcome& outcome = answer->outcomes[i];
    const LeaseId id = subject(call, answer->outcomes, i);
    heard_of.insert(id);
    if (!outcome.error) renewed.insert(id);
    Kept* kept = find(id);
    if (kept == nullptr || kept->stage != Stage::held) continue;
    if (outcome.error) {
      refused(*kept, outcome, answer->notices, times.answered_at);
    } else if (outcome.lease) {
      refresh(*kept, *outcome.lease, times);
    } else {
      renew_soon(*kept, times.answered_at);
    }
  }
  for (const LeaseId& id : call.ids) {
    Kept* kept = find(id);
    if (kept != nullptr && !heard_of.contains(id) && kept->stage == Stage::held) kept->stage = Stage::unclear;
  }
  if (!renewed.empty()) events_.push_back({.type = KeeperEventType::renewed, .count = renewed.size()});
  pass_on(answer->notices);
  if (call.request.which.all) look_for_strangers(renewed);
}

void KeeperState::refused(Kept& kept, const Outcome& outcome, const std::vector<Notice>& notices,
                          LocalTime now) {
  switch (outcome.error->code) {
    case Code::lost: {
      const EndCause cause = cause_of(outcome, kept.lease.id, notices);
      if (cause == EndCause::none) {
        kept.stage = Stage::unclear;
        return;
      }
      over(kept, cause, *outcome.error);
      return;
    }
    case Code::transferred:
      over(kept, EndCause::transferred, *outcome.error);
      return;
    case Code::not_found:
      over(kept, EndCause::none, *outcome.error);
      return;
    case Code::max_renewals_exceeded:
      if (kept.told == Told::valid) {
        kept.ending = outcome.error;
        tell(KeeperEventType::ending, kept, outcome.error);
        return;
      }
      [[fallthrough]];  // Nothing is left of it.
    case Code::not_owner:
      tell(KeeperEventType::lost, kept, outcome.error);
      drop(LeaseId(kept.lease.id));
      return;
    default:
      // About this one lease only; its time runs on.
      renew_soon(kept, now);
  }
}

void KeeperState::over(Kept& kept, EndCause cause, const Error& error) {
  const bool goes = !recovers_ || !comes_back(cause);
  if (goes || kept.told != Told::over) tell(KeeperEventType::lost, kept, error, cause);
  if (goes || is_superseded(kept.lease)) {
    drop(LeaseId(kept.lease.id));
    return;
  }
  kept.told = Told::over;
  kept.stage = Stage::gone;
}

void KeeperState::answered(const LookCall& call, const Result<Lease>& answer, const Exchange& times) {
  Kept* kept = find(call.id);
  if (!answer && answer.error().code != Code::not_found) {
    missed(answer.error(), times.answered_at);
    return;
  }
  reached();
  if (kept == nullptr || kept->stage != Stage::unclear) return;
  if (!answer) {
    over(*kept, EndCause::none, answer.error());
  } else if (answer->status == Status::active) {
    // It is there after all, or is over and nobody recorded that. The next renewal will tell.
    kept->stage = Stage::held;
    renew_soon(*kept, times.answered_at);
    by_id_ = true;
  } else {
    over(*kept, answer->ended_by,
         Error{answer->ended_by == EndCause::transferred ? Code::transferred : Code::lost,
               fmt::format("The lease on {} is over ({}).", answer->path, word(answer->ended_by))});
  }
}

void KeeperState::answered(const AcquireCall& call, const Result<AcquireAnswer>& answer,
                           const Exchange& times) {
  if (!answer) {
    if (is_passing(answer.error().code)) {
      missed(answer.error(), times.answered_at);
    } else {
      unrecoverable(call.ids, answer.error(), {});
    }
    return;
  }
  pass_on(answer->notices);
  const auto* refused = std::get_if<Refused>(&answer->decision);
  if (refused != nullptr && is_passing(refused->code)) {
    missed({refused->code, refused->message}, times.answered_at);
    return;
  }
  reached();
  if (refused != nullptr) {
    unrecoverable(call.ids, {refused->code, refused->message}, refused->blocked);
  } else if (const auto* granted = std::get_if<Granted>(&answer->decision)) {
    for (const LeaseId& id : call.ids) recovered(id, granted->leases, times);
    give_back_what_was_removed(*granted);
  } else if (const auto* queued = std::get_if<Queued>(&answer->decision)) {
    unrecoverable(call.ids, {Code::busy, "It would have to be waited for."}, queued->blocked);
  }
}

void KeeperState::recovered(const LeaseId& old, const std::vector<Lease>& granted, const Exchange& times) {
  const Kept* before = find(old);
  if (before == nullptr) return;  // Removed meanwhile.
  const auto lease = std::ranges::find(granted, before->lease.scope(), &Lease::scope);
  if (lease == granted.end()) {
    unrecoverable({old}, {Code::corrupt, "It was granted, but is not in the answer."}, {});
    return;
  }
  const std::shared_ptr<const AcquireRequest> request = before->request;
  drop(old);
  Kept& kept = keep(*lease, request);
  kept.told = Told::over;
  kept.previous = old;
  refresh(kept, *lease, times);
}

void KeeperState::give_back_what_was_removed(const Granted& granted) {
  for (const Lease& lease : granted.leases) {
    // One of another group its owner had besides.
    if (lease.group_id == granted.group_id && !leases_.contains(lease.id)) unwanted_.push_back(lease.id);
  }
}

void KeeperState::unrecoverable(const std::vector<LeaseId>& ids, const Error& error,
                                const std::vector<Blocked>& blocked) {
  for (const LeaseId& id : ids) {
    const Kept* kept = find(id);
    if (kept == nullptr) continue;
    tell(KeeperEventType::could_not_recover, *kept, error);
    events_.back().blocked = blocked;
    drop(id);
  }
}

void KeeperState::look_for_strangers(const std::set<LeaseId>& renewed) {
  std::set<LeaseId> strangers;
  for (const LeaseId& id : renewed) {
    if (leases_.contains(id)) continue;
    by_id_ |= strangers_.contains(id);
    strangers.insert(id);
  }
  strangers_ = std::move(strangers);
}

bool KeeperState::may_ask_for_less(const RenewCall& call) {
  if (call.request.which.all) {
    by_id_ = true;
    return true;
  }
  names_max_ = std::max<std::size_t>(std::min(names_max_, call.ids.size()) / 2, 1);
  return call.ids.size() > 1;
}

// Not at once, so that a store which makes no sense is not asked without a pause.
void KeeperState::renew_soon(Kept& kept, LocalTime now) {
  kept.renew_at = kept.renew_from = now + retry_after(kept.lease.ttl, 1, random_);
}

void KeeperState::reached() {
  misses_ = 0;
  last_miss_.reset();
  retry_at_ = LocalTime::min();
}

void KeeperState::missed(const Error& error, LocalTime now) {
  ++misses_;
  last_miss_ = error;
  retry_at_ = now + retry_after(shortest_ttl(), misses_, random_);
  events_.push_back({.type = KeeperEventType::missed, .count = misses_, .error = error});
}

}  // namespace leasehold
