#include "simulation/rules.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace leasehold::simulation {
namespace {

// "/a/b" -> {"a", "b"}; the root has no parts.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : path) {
    if (c != '/') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, {}));
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

bool is_at_or_below(const std::string& path, const std::string& top) {
  const std::vector<std::string> inner = parts_of(path);
  const std::vector<std::string> outer = parts_of(top);
  return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

bool goes_before(const Contender& a, const Contender& b) {
  return std::tuple(!a.upgrade, a.order, a.sequence) < std::tuple(!b.upgrade, b.order, b.sequence);
}

std::vector<Owner> cycle_in(const std::map<Owner, std::set<Owner>>& waits_for) {
  std::vector<Owner> way;
  std::set<Owner> done;
  const std::function<bool(const Owner&)> visit = [&](const Owner& owner) {
    if (const auto seen = std::ranges::find(way, owner); seen != way.end()) {
      way.erase(way.begin(), seen);
      return true;
    }
    const auto edges = waits_for.find(owner);
    if (!done.insert(owner).second || edges == waits_for.end()) return false;
    way.push_back(owner);
    if (std::ranges::any_of(edges->second, visit)) return true;
    way.pop_back();
    return false;
  };
  for (const auto& [owner, edges] : waits_for) {
    if (visit(owner)) return way;
  }
  return {};
}

}  // namespace

const Lease* Snapshot::find(const LeaseId& id) const {
  const auto found = std::ranges::find(leases, id, &Lease::id);
  return found == leases.end() ? nullptr : &*found;
}

const Ticket* Snapshot::find(const GroupId& id) const {
  const auto found = std::ranges::find(tickets, id, &Ticket::id);
  return found == tickets.end() ? nullptr : &*found;
}

const Contention* Snapshot::find(const std::string& contention) const {
  const auto found = std::ranges::find(contentions, contention, &Contention::id);
  return found == contentions.end() ? nullptr : &*found;
}

bool overlap(const Scope& a, const Scope& b) {
  if (a.path == b.path) return true;
  return (a.subtree && is_at_or_below(b.path, a.path)) || (b.subtree && is_at_or_below(a.path, b.path));
}

bool contains(const Scope& outer, const Scope& inner) {
  if (outer.subtree) return is_at_or_below(inner.path, outer.path);
  return outer.path == inner.path && !inner.subtree;
}

bool clash(Mode a, Mode b) { return a == Mode::exclusive || b == Mode::exclusive; }

bool is_enough(Mode held, Mode wanted) { return held == wanted || held == Mode::exclusive; }

bool is_mine(const Caller& caller, const Owner& owner) {
  const Owner& self = caller.holder.owner;
  const bool same_session = !self.session_id.empty() && self.session_id == owner.session_id;
  return self == owner || (caller.whole_session && same_session);
}

Liveness Rules::state_of(const Holder& holder) const {
  if (!holder.process) return Liveness::unknown;
  if (asking_ == holder.process) return Liveness::alive;
  return processes_.state_of(*holder.process);
}

EndCause Rules::over(const Lease& lease) const {
  const Time now = clock_.now();
  if (lease.recalled_at && *lease.recalled_at <= now) return EndCause::recalled;
  if (lease.idle_at && *lease.idle_at <= now) return EndCause::idle;
  const Liveness state = state_of(lease.holder);
  if (state == Liveness::dead) return EndCause::owner_dead;
  if (lease.expires_at > now) return EndCause::none;
  const bool attended = lease.attended && state == Liveness::alive;
  if (!attended) return EndCause::expired;
  // It was given for a short while to one whom nobody saw, and nobody came for it.
  const Time term = std::min({lease.acquired_at + lease.ttl, lease.recalled_at.value_or(Time::max()),
                              lease.idle_at.value_or(Time::max())});
  if (lease.expires_at < term) return EndCause::expired;
  return now - lease.last_heartbeat_at < policy_.silence_max ? EndCause::none : EndCause::silent;
}

EndCause Rules::over(const Ticket& ticket) const {
  const Time now = clock_.now();
  if (ticket.wait_until <= now) return EndCause::timed_out;
  switch (state_of(ticket.request->caller.holder)) {
    case Liveness::alive:
      return EndCause::none;
    case Liveness::dead:
      return EndCause::owner_dead;
    case Liveness::unknown:
      return ticket.proven_until <= now ? EndCause::owner_dead : EndCause::none;
  }
  return EndCause::none;
}

bool Rules::holds(const Snapshot& snapshot, const AcquireRequest& request, const Scope& scope,
                  Counting counting) const {
  return std::ranges::any_of(snapshot.leases, [&](const Lease& lease) {
    return is_mine(request.caller, lease.holder.owner) && contains(lease.scope(), scope) &&
           is_enough(lease.mode, request.mode) && (counting == Counting::recorded || is_live(lease));
  });
}

Contender Rules::contender(const AcquireRequest& request, const Snapshot& snapshot) const {
  return {.request = &request,
          .upgrade = is_upgrade(request, snapshot, Counting::live),
          .order = now() - request.priority * policy_.priority_step};
}

// Without the shared lease there is nothing left to upgrade.
Contender Rules::contender(const Ticket& ticket, const Snapshot& snapshot, Counting counting) const {
  const bool upgrade = ticket.upgrade && is_upgrade(ticket.request, snapshot, counting);
  return {&*ticket.request, upgrade, ticket.order, ticket.sequence, ticket.id};
}

// All it still needs, it holds already, but shared.
bool Rules::is_upgrade(const AcquireRequest& request, const Snapshot& snapshot, Counting counting) const {
  bool needs_any = false;
  for (const WantedPath& wanted : request.paths) {
    if (holds(snapshot, request, wanted.scope(), counting)) continue;
    const bool has_it = std::ranges::any_of(snapshot.leases, [&](const Lease& lease) {
      return is_mine(request.caller, lease.holder.owner) && contains(lease.scope(), wanted.scope()) &&
             (counting == Counting::recorded || is_live(lease));
    });
    if (!has_it) return false;
    needs_any = true;
  }
  return needs_any;
}

std::vector<Owner> Rules::obstacles(const Snapshot& snapshot, const Contender& who, Counting counting,
                                    Counting own, const Snapshot* ranks) const {
  return obstacles(snapshot, who, counting, own, ranks != nullptr ? *ranks : snapshot, Counting::live);
}

std::vector<Owner> Rules::obstacles(const Snapshot& snapshot, const Contender& who, Counting counting,
                                    Counting own, const Snapshot& ranks, Counting ranked_by) const {
  std::vector<Owner> found;
  const AcquireRequest& request = *who.request;
  for (const WantedPath& wanted : request.paths) {
    if (holds(snapshot, request, wanted.scope(), own)) continue;
    for (const Lease& lease : snapshot.leases) {
      if (is_mine(request.caller, lease.holder.owner) || !clash(lease.mode, request.mode)) continue;
      if (!overlap(lease.scope(), wanted.scope())) continue;
      if (counting == Counting::recorded || is_live(lease)) found.push_back(lease.holder.owner);
    }
    for (const Ticket& ticket : snapshot.tickets) {
      const Owner& owner = ticket.request->caller.holder.owner;
      if (ticket.id == who.ticket || is_mine(request.caller, owner)) continue;
      if (!clash(ticket.request->mode, request.mode)) continue;
      if (!goes_before(contender(ticket, ranks, ranked_by), who)) continue;
      const bool touches = std::ranges::any_of(ticket.request->paths, [&](const WantedPath& other) {
        return overlap(other.scope(), wanted.scope());
      });
      if (touches && (counting == Counting::recorded || is_live(ticket))) found.push_back(owner);
    }
  }
  return found;
}

bool Rules::could_go(const Snapshot& snapshot, const Ticket& ticket) const {
  const auto is_free = [&](Counting ranked_by) {
    return obstacles(snapshot, contender(ticket, snapshot, ranked_by), Counting::recorded, Counting::live,
                     snapshot, ranked_by)
        .empty();
  };
  return is_free(Counting::live) && is_free(Counting::recorded);
}

std::set<Owner> Rules::obstacles(const Snapshot& snapshot, const Ticket& ticket, Sureness sureness) const {
  const auto ranked = [&](Counting ranked_by) {
    const std::vector<Owner> found = obstacles(snapshot, contender(ticket, snapshot, ranked_by),
                                               Counting::live, Counting::recorded, snapshot, ranked_by);
    return std::set<Owner>(found.begin(), found.end());
  };
  const std::set<Owner> looked = ranked(Counting::live);
  const std::set<Owner> recorded = ranked(Counting::recorded);
  std::set<Owner> both;
  if (sureness == Sureness::sure) {
    std::ranges::set_intersection(looked, recorded, std::inserter(both, both.end()));
  } else {
    std::ranges::set_union(looked, recorded, std::inserter(both, both.end()));
  }
  return both;
}

Rules::Edges Rules::edges(const Snapshot& snapshot, Sureness sureness, bool by_session) const {
  const auto party = [&](const Owner& owner) {
    return by_session && !owner.session_id.empty() ? Owner{{}, owner.session_id} : owner;
  };
  Edges waits_for;
  for (const Ticket& ticket : snapshot.tickets) {
    if (!is_live(ticket)) continue;
    std::set<Owner>& edges = waits_for[party(ticket.request->caller.holder.owner)];
    for (const Owner& owner : obstacles(snapshot, ticket, sureness)) edges.insert(party(owner));
  }
  return waits_for;
}

std::vector<Owner> Rules::find_cycle(const Snapshot& snapshot) const {
  return cycle_in(edges(snapshot, Sureness::sure, false));
}

bool Rules::would_close_cycle(Snapshot snapshot, const Contender& asking) const {
  snapshot.tickets.push_back({.id = {"asked about"},
                              .request = *asking.request,
                              .sequence = asking.sequence,
                              .order = asking.order,
                              .upgrade = asking.upgrade,
                              .wait_until = kForever,
                              .proven_until = kForever});
  if (!cycle_in(edges(snapshot, Sureness::possible, false)).empty()) return true;
  const bool acts_for_session = std::ranges::any_of(
      snapshot.tickets, [](const Ticket& ticket) { return ticket.request->caller.whole_session; });
  return acts_for_session && !cycle_in(edges(snapshot, Sureness::possible, true)).empty();
}

}  // namespace leasehold::simulation
