// The checker's part about the gate: what it remembers, commit by commit, and what it answers.
#include <fmt/format.h>

#include <algorithm>

#include "simulation/checker.h"
#include "simulation/trace.h"

namespace leasehold::simulation {
namespace {

std::string describe(const Contention& contention) {
  return fmt::format("what the gate remembers of {} and {} ({})", contention.owner().agent_id,
                     contention.path, word(contention.state));
}

}  // namespace

// It is the time to try again, or somebody said so.
bool Checker::may_look(const Contention& contention) const {
  const bool due = contention.state == ContentionState::scheduled && contention.retry_at <= rules_.now();
  const bool told = contention.state == ContentionState::halted && contention.may_retry;
  return due || told || contention.drop_at <= rules_.now();
}

// The call that commits is of this kind, and about this contention.
bool Checker::is_asked_for(const Contention& contention, Call::Kind kind) const {
  if (call() == nullptr || call()->kind != kind) return false;
  if (kind == Call::Kind::instruct) return call()->contention == contention.id;
  return call()->caller.holder.owner == contention.owner() &&
         std::ranges::find(call()->request.paths, contention.path, &WantedPath::path) !=
             call()->request.paths.end();
}

void Checker::check_contentions(const Snapshot& after) {
  for (const Contention& contention : after.contentions) {
    if (const Contention* before = now_.find(contention.id)) {
      check_change(*before, contention);
    } else {
      check_new(contention);
    }
  }
  for (const Contention& contention : now_.contentions) {
    if (after.find(contention.id) == nullptr) check_gone(contention, after);
  }
  if (call() != nullptr && call()->kind == Call::Kind::gate && call()->read)
    fail("G1", "asking whether a file may be read changed something");
}

void Checker::check_new(const Contention& contention) {
  const Time now = rules_.now();
  if (!is_asked_for(contention, Call::Kind::gate)) fail("G2", describe(contention) + " was not asked for");
  if (contention.state != ContentionState::scheduled || contention.first_denied_at != now ||
      contention.retry_at != now + rules_.policy().gate_retry) {
    fail("G2", describe(contention) + " does not begin with one retry to come");
  }
}

void Checker::check_change(const Contention& before, const Contention& after) {
  const bool looked = after.retried_at != before.retried_at;
  if (after.retry_at != before.retry_at || after.first_denied_at != before.first_denied_at)
    fail("G2", describe(after) + ": its retry was moved");
  if (looked && !(is_asked_for(after, Call::Kind::gate) && may_look(before)))
    fail("G2", describe(after) + ": it was tried again before its time");
  if (after.may_retry && !before.may_retry && !is_asked_for(after, Call::Kind::instruct))
    fail("G3", describe(after) + ": it may be tried again, and nobody said so");
  if (after.state == before.state) return;
  const bool halts =
      before.state == ContentionState::scheduled && after.state == ContentionState::halted && looked;
  const bool gives_up =
      before.state == ContentionState::halted && after.state == ContentionState::abandoned &&
      is_asked_for(after, Call::Kind::instruct) && call()->instruction == Instruction::abandon;
  if (!halts && !gives_up) fail("G3", fmt::format("{} was {}", describe(after), word(before.state)));
}

// Its owner has got the file, or ended its session, or it was too old. A grant at the gate comes after the
// retry is due, or after an instruction; by a wait in the queue, or by an operator's hand, it may come
// before.
void Checker::check_gone(const Contention& contention, const Snapshot& after) {
  if (contention.drop_at <= rules_.now()) return;
  const Owner& owner = contention.owner();
  const bool ended =
      call() != nullptr && call()->kind == Call::Kind::end_session && is_mine(call()->caller, owner);
  const bool has_it = std::ranges::any_of(after.leases, [&](const Lease& lease) {
    return is_mine(contention.wanted.caller, lease.holder.owner) &&
           contains(lease.scope(), {contention.path, false}) && rules_.is_live(lease);
  });
  if (!ended && !has_it) return fail("G4", describe(contention) + " was forgotten");
  const bool had_it = std::ranges::any_of(after.leases, [&](const Lease& lease) {
    const Lease* before = now_.find(lease.id);
    return before != nullptr && is_mine(contention.wanted.caller, before->holder.owner) &&
           contains(before->scope(), {contention.path, false});
  });
  // By a ticket of its own, in the same commit.
  const bool waited = std::ranges::any_of(now_.tickets, [&](const Ticket& ticket) {
    return is_mine(contention.wanted.caller, ticket.request->caller.holder.owner) &&
           after.find(ticket.id) == nullptr;
  });
  const bool by_gate = is_asked_for(contention, Call::Kind::gate) && !had_it && !waited;
  if (by_gate && !may_look(contention)) fail("G2", describe(contention) + ": granted before its time");
}

// Somebody else has it or waits for it, or the gate keeps the caller from it.
bool Checker::is_contended(const Caller& caller, const Scope& scope) const {
  const auto has_it = [&](const Lease& lease) {
    return !is_mine(caller, lease.holder.owner) && overlap(scope, lease.scope()) && rules_.is_live(lease);
  };
  const auto waits_for_it = [&](const Ticket& ticket) {
    return std::ranges::any_of(ticket.request->paths,
                               [&](const WantedPath& wanted) { return overlap(scope, wanted.scope()); });
  };
  const auto is_kept_from_it = [&](const Contention& contention) {
    return contention.owner() == caller.holder.owner && contention.path == scope.path;
  };
  return std::ranges::any_of(now_.leases, has_it) || std::ranges::any_of(now_.tickets, waits_for_it) ||
         std::ranges::any_of(now_.contentions, is_kept_from_it);
}

void Checker::gated(const Call& call, const Result<GateAnswer>& answer) {
  if (!answer) return;
  const auto* allowed = std::get_if<Allowed>(&answer->decision);
  if (call.read) return check_readable(call, allowed != nullptr);
  if (allowed == nullptr) return check_denied(call, std::get<Denied>(answer->decision));
  for (const WantedPath& wanted : call.request.paths) {
    const bool has_it = std::ranges::any_of(now_.leases, [&](const Lease& lease) {
      return is_mine(call.caller, lease.holder.owner) && contains(lease.scope(), wanted.scope()) &&
             is_enough(lease.mode, call.request.mode) && rules_.is_live(lease);
    });
    // A pair that cannot be had is not in the way.
    if (!has_it && (wanted.requested || !is_contended(call.caller, wanted.scope()))) {
      fail("G1", fmt::format("{} may write {}, and does not hold it", call.caller.holder.owner.agent_id,
                             text(wanted.scope())));
    }
  }
  for (const Lease& told : allowed->leases) {
    const Lease* lease = now_.find(told.id);
    if (lease == nullptr || lease->token != told.token || lease->expires_at != told.expires_at)
      fail("G1", "the gate tells of a lease on " + text(told.scope()) + " that is not so");
  }
}

// Who holds a file itself may read it, also beside another that acts for its session.
void Checker::check_readable(const Call& call, bool allowed) {
  const bool is_written = std::ranges::any_of(call.request.paths, [&](const WantedPath& wanted) {
    const auto is_own = [&](const Lease& lease) {
      return is_mine(call.caller, lease.holder.owner) && contains(lease.scope(), wanted.scope()) &&
             rules_.is_live(lease);
    };
    const auto is_anothers = [&](const Lease& lease) {
      return lease.mode == Mode::exclusive && !is_mine(call.caller, lease.holder.owner) &&
             overlap(wanted.scope(), lease.scope()) && rules_.is_live(lease);
    };
    return std::ranges::none_of(now_.leases, is_own) && std::ranges::any_of(now_.leases, is_anothers);
  });
  if (allowed == is_written) {
    fail("G1", fmt::format("{} {} read {}", call.caller.holder.owner.agent_id, allowed ? "may" : "may not",
                           text(call.request.paths.front().scope())));
  }
}

void Checker::check_denied(const Call& call, const Denied& denied) {
  const std::string& asker = call.caller.holder.owner.agent_id;
  if (denied.code == Code::lost || denied.code == Code::transferred) return;
  if (denied.contentions.empty()) return fail("G2", asker + " was denied, and nothing remembers it");
  bool only_scheduled = true;
  bool just_looked = false;
  for (const Contention& told : denied.contentions) {
    const Contention* kept = now_.find(told.id);
    if (kept == nullptr || kept->retry_at != told.retry_at || kept->state != told.state)
      return fail("G2", asker + " was told of a retry that is not so");
    only_scheduled = only_scheduled && told.state == ContentionState::scheduled;
    // Another call may have looked at this very moment.
    const auto& before = calls_.back().contentions;
    if (std::ranges::find(before, *kept) == before.end())
      just_looked |= told.first_denied_at == rules_.now() || told.retried_at == rules_.now();
  }
  if (denied.code != (only_scheduled ? Code::retry_later : Code::halted))
    fail("G3", fmt::format("{} was told {}", asker, info(denied.code).name));
  const Contender who = rules_.contender(call.request, now_);
  if (just_looked && rules_.obstacles(now_, who, Rules::Counting::live).empty())
    fail("I7", asker + " was denied, with nobody live in the way");
}

// The worker has the file by it, if that was the word.
void Checker::instructed(const Call& call, const Result<Contention>& answer) {
  if (!answer) return;
  const bool grants = call.instruction == Instruction::force || call.instruction == Instruction::transfer;
  const bool has_it = std::ranges::all_of(answer->wanted.paths, [&](const WantedPath& wanted) {
    return std::ranges::any_of(now_.leases, [&](const Lease& lease) {
      return is_mine(answer->wanted.caller, lease.holder.owner) && contains(lease.scope(), wanted.scope()) &&
             is_enough(lease.mode, answer->wanted.mode) && rules_.is_live(lease);
    });
  });
  if (grants && !has_it)
    fail("G3", fmt::format("{} was to get {}, and did not", call.to.agent_id, answer->path));
}

}  // namespace leasehold::simulation
