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

}  // namespace

const Lease* Snapshot::find(const LeaseId& id) const {
  const auto found = std::ranges::find(leases, id, &Lease::id);
  return found == leases.end() ? nullptr : &*found;
}

const Ticket* Snapshot::find(const GroupId& id) const {
  const auto found = std::ranges::find(tickets, id, &Ticket::id);
  return found == tickets.end() ? nullptr : &*found;
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
  return now - lease.last_heartbeat_at < policy_.silence_max ? EndCause::none : EndCause::silent;
}

EndCause Rules::over(const Ticket& ticket) const {
  const Time now = clock_.now();
  if (ticket.wait_until <= now) return EndCause::timed_out;
  switch (state_of(ticket.request.caller.holder)) {
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
          .upgrade = is_upgrade(request, snapshot),
          .order = now() - request.priority * policy_.priority_step};
}

// Without the shared lease there is nothing left to upgrade.
Contender Rules::contender(const Ticket& ticket, const Snapshot& snapshot) const {
  const bool upgrade = ticket.upgrade && is_upgrade(ticket.request, snapshot);
  return {&ticket.request, upgrade, ticket.order, ticket.sequence, ticket.id};
}

// All it still needs, it holds already, but shared.
bool Rules::is_upgrade(const AcquireRequest& request, const Snapshot& snapshot) const {
  bool needs_any = false;
  for (const WantedPath& wanted : request.paths) {
    if (holds(snapshot, request, wanted.scope(), Counting::live)) continue;
    const bool has_it = std::ranges::any_of(snapshot.leases, [&](const Lease& lease) {
      return is_mine(request.caller, lease.holder.owner) && contains(lease.scope(), wanted.scope()) && is_live(lease);
    });
    if (!has_it) return false;
    needs_any = true;
  }
  return needs_any;
}

std::vector<Owner> Rules::obstacles(const Snapshot& snapshot, const Contender& who, Counting counting,
                                    Counting own, const Snapshot* ranks) const {
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
      const Owner& owner = ticket.request.caller.holder.owner;
      if (ticket.id == who.ticket || is_mine(request.caller, owner)) continue;
      if (!clash(ticket.request.mode, request.mode) ||
          !goes_before(contender(ticket, ranks != nullptr ? *ranks : snapshot), who))
        continue;
      const bool touches = std::ranges::any_of(ticket.request.paths, [&](const WantedPath& other) {
        return overlap(other.scope(), wanted.scope());
      });
      if (touches && (counting == Counting::recorded || is_live(ticket))) found.push_back(owner);
    }
  }
  return found;
}

std::vector<Owner> Rules::find_cycle(const Snapshot& snapshot) const { return find_cycle(snapshot, false); }

bool Rules::would_close_cycle(Snapshot snapshot, const Contender& asking) const {
  snapshot.tickets.push_back({.id = {"asked about"},
                              .request = *asking.request,
                              .sequence = asking.sequence,
                              .order = asking.order,
                              .upgrade = asking.upgrade,
                              .wait_until = kForever,
                              .proven_until = kForever});
  if (!find_cycle(snapshot, false).empty()) return true;
  const bool acts_for_session = std::ranges::any_of(
      snapshot.tickets, [](const Ticket& ticket) { return ticket.request.caller.whole_session; });
  return acts_for_session && !find_cycle(snapshot, true).empty();
}

std::vector<Owner> Rules::find_cycle(const Snapshot& snapshot, bool by_session) const {
  const auto party = [&](const Owner& owner) {
    return by_session && !owner.session_id.empty() ? Owner{{}, owner.session_id} : owner;
  };
  std::map<Owner, std::set<Owner>> waits_for;
  for (const Ticket& ticket : snapshot.tickets) {
    if (!is_live(ticket)) continue;
    std::set<Owner>& edges = waits_for[party(ticket.request.caller.holder.owner)];
    for (const Owner& owner :
         obstacles(snapshot, contender(ticket, snapshot), Counting::live, Counting::recorded)) {
      edges.insert(party(owner));
    }
  }

  std::vector<Owner> way;
  std::set<Owner> done;
  const std::function<bool(const Owner&)> visit = [&](const Owner& owner) {
    if (const auto seen = std::ranges::find(way, owner); seen != way.end()) {
      way.erase(way.begin(), seen);
      return true;
    }
    if (!done.insert(owner).second || !waits_for.contains(owner)) return false;
    way.push_back(owner);
    for (const Owner& next : waits_for[owner]) {
      if (visit(next)) return true;
    }
    way.pop_back();
    return false;
  };
  for (const auto& [owner, edges] : waits_for) {
    if (visit(owner)) return way;
  }
  return {};
}

}  // namespace leasehold::simulation
