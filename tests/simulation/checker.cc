#include "simulation/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "simulation/trace.h"

namespace leasehold::simulation {
namespace {

std::string describe(const Lease& lease) {
  return fmt::format("{} {} of {}", word(lease.mode), text(lease.scope()), lease.holder.owner.agent_id);
}

std::string describe(const Event& event) {
  return fmt::format("{} ({}) {} of {}", word(event.type), word(event.cause),
                     text({event.path, event.subtree}), event.owner.agent_id);
}

bool is_instruction(const Call& call, Instruction instruction) {
  return call.kind == Call::Kind::instruct && call.instruction == instruction;
}

}  // namespace

void Checker::fail(std::string invariant, std::string text) {
  if (!violation_) violation_ = Violation{std::move(invariant), std::move(text)};
}

void Checker::begin(const Call& call) {
  calls_.push_back({call, {}, {}, now_.contentions});
  const std::string& key = call.request.idempotency_key;
  for (const Ticket& ticket : now_.tickets) {
    calls_.back().waiting.insert(ticket.id);
    const bool waits_on =
        ticket.request->caller.holder.owner == call.caller.holder.owner && ticket.wait_until > rules_.now();
    if (waits_on && !key.empty() && ticket.request->idempotency_key == key)
      calls_.back().asks_again_of = ticket;
  }
  rules_.set_asking(call.caller.holder.process);
}

void Checker::end() {
  calls_.pop_back();
  rules_.set_asking(calls_.empty() ? std::nullopt : call()->caller.holder.process);
}

bool Checker::same_party(const Owner& a, const Owner& b) const {
  return a == b || (a.session_id == b.session_id && acting_sessions_.contains(a.session_id));
}

void Checker::committed(const Commit& commit, View& view) {
  check_events(commit);
  check_tokens(commit);
  Snapshot after = {view.leases({}), view.tickets({}), view.contentions({})};
  // Ids begin with the wall's time, and a store may order by them; what is picked from this must not depend
  // on it.
  std::ranges::sort(after.leases, {}, [](const Lease& lease) {
    return std::tie(lease.path, lease.subtree, lease.holder.owner, lease.token);
  });
  if (const auto problem = fold_.compare(after)) fail("I20", *problem);
  check_exclusion(after);
  check_extensions(after);
  check_handover(commit, after);
  check_grants(commit, after, view);
  check_queue(after);
  check_limit(after);
  check_contentions(after);
  now_ = std::move(after);
}

void Checker::check_events(const Commit& commit) {
  for (const Event& event : commit.events) {
    if (event.type == EventType::released || event.type == EventType::expired) check_end(event);
    if (event.type == EventType::failed && event.status_before == Status::pending) check_failure(event);
    if (event.type == EventType::upgraded || event.type == EventType::downgraded) {
      beliefs_.change_mode(event.lease_id, event.mode);
    }
    if (event.type == EventType::downgraded && (call() == nullptr || !is_mine(call()->caller, event.owner))) {
      fail("I9", describe(event) + ", by somebody else's call");
    }
    if (const auto problem = fold_.apply(event)) {
      fail(event.type == EventType::renewed ? "I8" : "I20", *problem);
    }
  }
}

// A lease ended: its owner said so, or somebody who may, or its time was up.
void Checker::check_end(const Event& event) {
  const Lease* lease = now_.find(event.lease_id);
  if (lease == nullptr) {
    // Given and over in one commit: handed to one who is dead.
    const auto line = fold_.leases().find(event.lease_id);
    const bool given_now = line != fold_.leases().end() && line->second.status_after == Status::active;
    if (!given_now || event.cause != EndCause::owner_dead)
      fail("I20", describe(event) + ", which was not held");
    return;
  }
  switch (event.cause) {
    case EndCause::released: {
      const bool may =
          call() != nullptr && (call()->kind == Call::Kind::release || call()->kind == Call::Kind::cancel ||
                                call()->kind == Call::Kind::end_session);
      if (!may || !is_mine(call()->caller, event.owner))
        fail("I9", describe(event) + ", by somebody else's call");
      if (may && call()->token && lease->requested && *call()->token != lease->token) {
        fail("I9", describe(event) + ", with a token that is not its own");
      }
      break;
    }
    case EndCause::forced:
      if (call() == nullptr ||
          !(call()->kind == Call::Kind::force || is_instruction(*call(), Instruction::force)))
        fail("I6", describe(event) + ", and no operator was there");
      break;
    case EndCause::transferred:
      if (call() != nullptr && is_instruction(*call(), Instruction::transfer)) break;
      if (call() == nullptr || call()->kind != Call::Kind::transfer ||
          !(call()->as_operator || is_mine(call()->caller, event.owner))) {
        fail("I9", describe(event) + ", and its owner did not ask");
      }
      break;
    default:
      if (const EndCause cause = rules_.over(*lease); cause != event.cause) {
        fail("I6", fmt::format("{}, but by the rules: {}", describe(event), word(cause)));
      }
      for (const Belief& belief : beliefs_.of_lease(event.lease_id)) {
        const bool owed = event.cause == EndCause::expired || event.cause == EndCause::silent ||
                          (event.cause == EndCause::idle && belief.believer == belief.owner);
        if (owed && !belief.revoked && belief.deadline > rules_.now()) {
          fail("I6", fmt::format("{}, {} s before {} would let go of it", describe(event),
                                 seconds(belief.deadline - rules_.now()), belief.believer.agent_id));
        }
      }
  }
  beliefs_.revoke(event.lease_id);
}

void Checker::check_failure(const Event& event) {
  const Ticket* ticket = now_.find(event.group_id);
  if (ticket == nullptr) return fail("I20", describe(event) + ", which did not wait");
  const bool own_call = call() != nullptr && is_mine(call()->caller, event.owner);
  switch (event.cause) {
    case EndCause::timed_out:
    case EndCause::owner_dead:
      if (rules_.over(*ticket) != event.cause) {
        fail("I14", fmt::format("{}, but by the rules: {}", describe(event), word(rules_.over(*ticket))));
      }
      break;
    case EndCause::cancelled:
      if (!own_call) fail("I9", describe(event) + ", by somebody else's call");
      break;
    default:
      break;
  }
}

// One token for all of a grant, and each above all there were.
void Checker::check_tokens(const Commit& commit) {
  std::map<Token, Owner> fresh;
  for (const Event& event : commit.events) {
    if (event.type != EventType::acquired && event.type != EventType::upgraded) continue;
    if (const auto known = fresh.find(event.token); known != fresh.end()) {
      if (!same_party(known->second, event.owner)) fail("I4", describe(event) + " has another owner's token");
      continue;
    }
    if (event.token <= highest_) {
      fail("I4", fmt::format("{} has a token that is {} below the highest there was", describe(event),
                             highest_.value - event.token.value));
    }
    highest_ = std::max(highest_, event.token);
    fresh.emplace(event.token, event.owner);
  }
}

void Checker::check_exclusion(const Snapshot& after) {
  for (auto a = after.leases.begin(); a != after.leases.end(); ++a) {
    for (auto b = std::next(a); b != after.leases.end(); ++b) {
      if (same_party(a->holder.owner, b->holder.owner) || !clash(a->mode, b->mode)) continue;
      if (overlap(a->scope(), b->scope())) fail("I1", fmt::format("{} and {}", describe(*a), describe(*b)));
    }
  }
}

// Whatever proves life or buys time does so for a live lease only.
void Checker::check_extensions(const Snapshot& after) {
  for (const Lease& lease : after.leases) {
    const Lease* before = now_.find(lease.id);
    if (before == nullptr) continue;
    const bool extended =
        lease.expires_at > before->expires_at || lease.renewal_count != before->renewal_count ||
        lease.last_heartbeat_at != before->last_heartbeat_at || (before->idle_at && !lease.idle_at);
    if (extended && !rules_.is_live(*before)) {
      fail("I8",
           fmt::format("{} was extended, but was over: {}", describe(lease), word(rules_.over(*before))));
    }
  }
}

void Checker::check_handover(const Commit& commit, const Snapshot& after) {
  for (const Event& event : commit.events) {
    if (event.type != EventType::released || event.cause != EndCause::transferred || call() == nullptr)
      continue;
    if (call()->kind == Call::Kind::instruct) continue;  // The worker gets what it wanted, no more.
    const Scope scope = {event.path, event.subtree};
    const bool given = std::ranges::any_of(commit.events, [&](const Event& other) {
      return other.type == EventType::acquired && other.owner == call()->to &&
             scope == Scope{other.path, other.subtree} && other.token > event.token;
    });
    const bool had = std::ranges::any_of(after.leases, [&](const Lease& lease) {
      return lease.holder.owner == call()->to && lease.scope() == scope;
    });
    if (!given && !had) fail("I15", describe(event) + ", and nobody received it");
  }
}

void Checker::check_queue(const Snapshot& after) {
  for (const Ticket& ticket : after.tickets) {
    if (rules_.is_live(ticket) && rules_.could_go(after, ticket)) {
      fail("I12", fmt::format("{} still waits for {} with nothing in the way",
                              ticket.request->caller.holder.owner.agent_id,
                              text(ticket.request->paths.front().scope())));
    }
  }
  if (!sees_steadily_) return;
  // By who is seen when nobody asks: a silent waiter that asks for something else is not back yet.
  rules_.set_asking(std::nullopt);
  const std::vector<Owner> cycle = rules_.find_cycle(after);
  if (call() != nullptr) rules_.set_asking(call()->caller.holder.process);
  if (cycle.empty()) return;
  std::string names;
  for (const Owner& owner : cycle) names += owner.agent_id + " waits for ";
  fail("I11", names + cycle.front().agent_id);
}

// What it has, and what it would get if all its waits came true. Who seems gone for a while still counts if
// it is seen in `other`: coming back is not asking for more.
std::size_t Checker::count_leases(const Owner& owner, const Snapshot& snapshot, const Snapshot& other) const {
  std::set<Scope> scopes;
  for (const Lease& lease : snapshot.leases) {
    if (lease.holder.owner == owner && rules_.is_live(lease)) scopes.insert(lease.scope());
  }
  std::size_t count = scopes.size();
  for (const Ticket& ticket : snapshot.tickets) {
    const Caller& waiter = ticket.request->caller;
    const Ticket* same = other.find(ticket.id);
    if (waiter.holder.owner != owner) continue;
    if (!rules_.is_live(ticket) && (same == nullptr || !rules_.is_live(*same))) continue;
    for (const WantedPath& wanted : ticket.request->paths) {
      const bool has_it = std::ranges::any_of(snapshot.leases, [&](const Lease& lease) {
        return is_mine(waiter, lease.holder.owner) && lease.scope() == wanted.scope() &&
               rules_.is_live(lease);
      });
      if (!has_it) ++count;
    }
  }
  return count;
}

void Checker::check_limit(const Snapshot& after) {
  std::set<Owner> owners;
  for (const Lease& lease : after.leases) owners.insert(lease.holder.owner);
  for (const Ticket& ticket : after.tickets) owners.insert(ticket.request->caller.holder.owner);
  for (const Owner& owner : owners) {
    const std::size_t count = count_leases(owner, after, now_);
    if (count <= rules_.policy().leases_per_owner_max || count <= count_leases(owner, now_, after)) continue;
    fail("L1", fmt::format("{} has, or waits for, {} leases", owner.agent_id, count));
  }
}

void Checker::check_beliefs() {
  const Time now = rules_.now();
  const std::vector<Belief>& beliefs = beliefs_.all();
  const auto holds = [&](const Belief& belief) { return !belief.revoked && now < belief.deadline; };
  for (auto a = beliefs.begin(); a != beliefs.end(); ++a) {
    for (auto b = std::next(a); b != beliefs.end() && holds(*a); ++b) {
      if (!holds(*b) || same_party(a->believer, b->believer) || !clash(a->mode, b->mode)) continue;
      if (!overlap(a->scope, b->scope)) continue;
      fail("I2", fmt::format("{} believes in {} {}, {} in {} {}", a->believer.agent_id, word(a->mode),
                             text(a->scope), b->believer.agent_id, word(b->mode), text(b->scope)));
    }
  }
}

void Checker::data_lost() {
  for (const auto& [id, line] : fold_.leases()) beliefs_.revoke(id);
  fold_ = {};
  now_ = {};
  granted_keys_.clear();
}

void Checker::check_finished() {
  for (const Ticket& ticket : now_.tickets) {
    fail("I11", fmt::format("{} still waits at the end", ticket.request->caller.holder.owner.agent_id));
  }
  for (const Lease& lease : now_.leases) fail("I7", describe(lease) + " is still held at the end");
}

}  // namespace leasehold::simulation
