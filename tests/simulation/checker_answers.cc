// The checker's part about answers: whether they are true at the moment they are given.
#include <fmt/format.h>

#include <algorithm>

#include "simulation/checker.h"
#include "simulation/trace.h"

namespace leasehold::simulation {

void Checker::answered(const Call& call, const Result<AcquireAnswer>& answer) {
  if (!answer) return;
  const std::string& asker = call.caller.holder.owner.agent_id;
  if (const auto* granted = std::get_if<Granted>(&answer->decision)) {
    check_granted(call, *granted);
  } else if (const auto* queued = std::get_if<Queued>(&answer->decision)) {
    const Ticket* ticket = now_.find(queued->ticket);
    if (ticket == nullptr) return fail("I12", asker + " was told to wait, and does not");
    // Asked again under the same key, one is only told that one waits; the look comes with poll.
    const bool looked = call.kind == Call::Kind::poll || !calls_.back().waiting.contains(queued->ticket);
    if (looked && rules_.obstacles(now_, rules_.contender(*ticket, now_), Rules::Counting::live).empty()) {
      fail("I7", asker + " was told to wait, with nobody live in the way");
    }
  } else if (const Refused& refused = std::get<Refused>(answer->decision); call.kind == Call::Kind::acquire) {
    const AcquireRequest request = as_held(call);
    Contender who = rules_.contender(request, now_);
    if (const auto& before = calls_.back().asks_again_of) {
      who.order = before->order;
      who.sequence = before->sequence;
    }
    if (refused.code == Code::busy && rules_.obstacles(now_, who, Rules::Counting::live).empty()) {
      fail("I7", asker + " was refused, with nobody live in the way");
    }
    if (refused.code == Code::deadlock && !rules_.would_close_cycle(now_, who)) {
      fail("I11", asker + " was refused for a deadlock that is none");
    }
  }
}

// An upgrade names a path, and means it as it is held: alone, or with all below it.
AcquireRequest Checker::as_held(const Call& call) const {
  AcquireRequest request = call.request;
  for (WantedPath& wanted : request.paths) {
    const auto is_held = [&](bool subtree) {
      return std::ranges::any_of(now_.leases, [&](const Lease& lease) {
        return is_mine(call.caller, lease.holder.owner) && lease.scope() == Scope{wanted.path, subtree};
      });
    };
    if (call.upgrade && !is_held(wanted.subtree) && is_held(!wanted.subtree))
      wanted.subtree = !wanted.subtree;
  }
  return request;
}

void Checker::check_granted(const Call& call, const Granted& granted) {
  const AcquireRequest& request = call.request;
  const std::string& asker = call.caller.holder.owner.agent_id;
  if (granted.leases.size() != request.paths.size())
    return fail("I10", asker + " was granted another number of paths");
  for (std::size_t i = 0; i < request.paths.size(); ++i) {
    const Lease& told = granted.leases[i];
    const Lease* lease = now_.find(told.id);
    // Told again, or late, it may have been downgraded meanwhile.
    const bool just_granted = call.kind == Call::Kind::acquire && !granted.replayed;
    const bool as_asked =
        told.path == request.paths[i].path && (call.upgrade || told.subtree == request.paths[i].subtree);
    if (!as_asked || (just_granted && !is_enough(told.mode, request.mode))) {
      fail("I10", fmt::format("{} asked for {} and was told of {}", asker, text(request.paths[i].scope()),
                              text(told.scope())));
    } else if (lease == nullptr || lease->token != told.token || !rules_.is_live(*lease)) {
      fail("I8", fmt::format("{} was told it holds {}, and does not", asker, text(told.scope())));
    }
  }
  if (request.idempotency_key.empty()) return;
  const auto first = granted_keys_.find({call.caller.holder.owner, request.idempotency_key});
  if (first != granted_keys_.end() && first->second != granted.group_id) {
    fail("I5", fmt::format("{} was told of another grant under the key {}", asker, request.idempotency_key));
  }
}

void Checker::renewed(const Call& call, const Result<Outcomes>& answer) {
  if (!answer) return;
  for (const Outcome& outcome : answer->outcomes) {
    if (outcome.error || !outcome.lease) continue;
    const Lease* lease = now_.find(outcome.lease->id);
    const std::string who =
        fmt::format("{} was told that {} is renewed", call.caller.holder.owner.agent_id, outcome.path);
    if (lease == nullptr || !rules_.is_live(*lease)) {
      fail("I8", who + ", and it is over");
    } else if (lease->expires_at < rules_.now() + lease->ttl && !lease->recalled_at && !lease->idle_at) {
      fail("I8", who + ", but not for its whole time");
    } else if (outcome.lease->updated_at != lease->updated_at ||
               outcome.lease->expires_at > lease->expires_at) {
      fail("I8", who + ", and was shown something else than is stored");
    }
  }
}

void Checker::checked(const std::string& path, Token token, const Result<CheckAnswer>& answer) {
  if (!answer) return;
  const bool current = std::ranges::any_of(now_.leases, [&](const Lease& lease) {
    return lease.token == token && contains(lease.scope(), {path, false}) && rules_.is_live(lease);
  });
  if (current != answer->current) {
    fail("I3",
         fmt::format("check says that a token for {} is {}", path, answer->current ? "current" : "over"));
  }
}

// A newer owner's write is never followed by an older one's. One owner may hold a directory and a
// file in it, under two tokens, and use either.
void Checker::written(const Owner& owner, const std::string& path, Token token) {
  std::vector<Write>& writes = writes_[path];
  for (const Write& write : writes) {
    if (same_party(write.owner, owner) || write.token < token) continue;
    fail("I3",
         fmt::format("{} wrote {} after a newer write of {}", owner.agent_id, path, write.owner.agent_id));
  }
  const auto own = std::ranges::find(writes, owner, &Write::owner);
  if (own == writes.end()) {
    writes.push_back({owner, token});
  } else {
    own->token = std::max(own->token, token);
  }
}

}  // namespace leasehold::simulation
