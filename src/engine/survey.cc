#include "engine/survey.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>

#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/records_at.h"
#include "model/mode.h"
#include "model/scope.h"

namespace leasehold {
namespace {

Rank rank_now(View& view, const Context& context, const Ticket& ticket);

class Surveyor {
 public:
  Surveyor(View& view, const Context& context, const AcquireRequest& request)
      : view_(view), context_(context), request_(request), now_(view.now()), result_() {
    result_.places.resize(request.paths.size());
  }

  Survey run(const Ticket* waiting, const Ticket* also, bool is_alone = false) {
    std::vector<std::vector<Lease>> others(request_.paths.size());
    for (std::size_t i = 0; i < request_.paths.size(); ++i) others[i] = look_for_own(i);
    result_.upgrade = (waiting == nullptr || waiting->upgrade) && is_upgrade();
    const Rank rank = waiting != nullptr
                          ? rank_of(*waiting, result_.upgrade)
                          : rank_at_arrival(request_.priority, result_.upgrade, now_, context_.policy);
    const std::vector<Ticket> tickets = is_alone ? std::vector<Ticket>() : waiters(also);
    for (std::size_t i = 0; i < request_.paths.size(); ++i) {
      if (result_.places[i].held) continue;
      look_for_waiters(i, rank, waiting, tickets);
      look_for_holders(i, others[i]);
    }
    return std::move(result_);
  }

  // All the request still needs, its owner holds shared.
  bool would_upgrade() {
    for (std::size_t i = 0; i < request_.paths.size(); ++i) look_for_own(i);
    return is_upgrade();
  }

 private:
  // Notes the caller's own lease, and returns those of others that conflict by mode.
  std::vector<Lease> look_for_own(std::size_t index) {
    const Scope wanted = request_.paths[index].scope();
    Survey::Place& place = result_.places[index];
    std::vector<Lease> others;
    for (Lease& lease : view_.leases_at(wanted)) {
      if (!owns(request_.caller, lease.holder.owner)) {
        if (!compatible(lease.mode, request_.mode)) others.push_back(std::move(lease));
        continue;
      }
      if (!is_live(lease)) continue;
      if (covers(lease.scope(), wanted)) {
        place.covered = true;
        if (suffices(lease.mode, request_.mode)) place.held = true;
      }
      if (lease.scope() == wanted && better_own(place.own, lease)) place.own = std::move(lease);
    }
    return by_path(std::move(others));
  }

  // A whole-session caller may find leases of several agents; its own comes first. In which order the store
  // has the others must not show.
  bool better_own(const std::optional<Lease>& current, const Lease& candidate) const {
    const Owner& self = request_.caller.holder.owner;
    const auto rank = [&](const Owner& owner) { return std::pair(owner != self, owner); };
    return !current || rank(candidate.holder.owner) < rank(current->holder.owner);
  }

  bool is_upgrade() const {
    bool needs_any = false;
    for (const Survey::Place& place : result_.places) {
      if (place.held) continue;
      if (!place.covered) return false;
      needs_any = true;
    }
    return needs_any;
  }

  void look_for_holders(std::size_t index, const std::vector<Lease>& others) {
    for (const Lease& lease : others) {
      if (is_live(lease)) result_.blocked.push_back(evidence(index, lease));
    }
  }

  // For what is not held.
  std::vector<Ticket> waiters(const Ticket* also) const {
    std::vector<Scope> scopes;
    for (std::size_t i = 0; i < request_.paths.size(); ++i) {
      if (!result_.places[i].held) scopes.push_back(request_.paths[i].scope());
    }
    std::vector<Ticket> tickets = view_.tickets_at(scopes);
    if (also != nullptr) tickets.push_back(*also);
    return tickets;
  }

  void look_for_waiters(std::size_t index, const Rank& rank, const Ticket* waiting,
                        const std::vector<Ticket>& tickets) {
    std::vector<std::pair<Rank, Blocked>> in_the_way;
    for (const Ticket& ticket : tickets) {
      if (waiting != nullptr && ticket.id == waiting->id) continue;
      const Caller& waiter = ticket.request->caller;
      const bool is_own = owns(request_.caller, waiter.holder.owner);
      result_.same_owner_waits |= is_own || owns(waiter, request_.caller.holder.owner);
      if (is_own) continue;
      const WantedPath* touching = overlapping_path(ticket, request_.paths[index].scope());
      if (touching == nullptr) continue;
      const bool conflicts = !compatible(ticket.request->mode, request_.mode);
      const Rank its_rank = rank_now(view_, context_, ticket);
      if (!before(its_rank, rank)) {
        result_.overtakes |= conflicts;
        continue;
      }
      if (!is_live(ticket)) continue;
      ++result_.places[index].waiters_ahead;
      if (conflicts) in_the_way.emplace_back(its_rank, evidence(index, ticket, *touching));
    }
    std::ranges::sort(in_the_way, before, &std::pair<Rank, Blocked>::first);
    for (Blocked& blocked : in_the_way | std::views::values) {
      blocked.waiters_ahead = result_.places[index].waiters_ahead;
      result_.blocked.push_back(std::move(blocked));
    }
  }

  static const WantedPath* overlapping_path(const Ticket& ticket, const Scope& scope) {
    const auto found = std::ranges::find_if(
        ticket.request->paths, [&](const WantedPath& wanted) { return overlaps(wanted, scope); });
    return found == ticket.request->paths.end() ? nullptr : &*found;
  }

  bool is_live(const Lease& lease) {
    const EndCause cause = lapse(lease, now_, context_);
    if (!seen_leases_.insert(lease.id).second) return cause == EndCause::none;
    if (cause != EndCause::none) {
      result_.lapsed_leases.push_back({lease, cause});
    } else if (lives_by_attendance(lease, now_)) {
      result_.attended.push_back(lease);
    }
    return cause == EndCause::none;
  }

  bool is_live(const Ticket& ticket) {
    const EndCause cause = lapse(ticket, now_, context_);
    if (seen_tickets_.insert(ticket.id).second && cause != EndCause::none) {
      result_.lapsed_tickets.push_back({ticket, cause});
    }
    return cause == EndCause::none;
  }

  Blocked evidence(std::size_t index, const Lease& lease) const {
    return {.path = request_.paths[index].path,
            .waits = false,
            .holder = lease.holder,
            .held_path = lease.path,
            .subtree = lease.subtree,
            .mode = lease.mode,
            .lease_id = lease.id,
            .reason = lease.reason,
            .acquired_at = lease.acquired_at,
            .last_heartbeat_at = lease.last_heartbeat_at,
            .expires_at = end_as_it_stands(lease),
            .verdict = verdict_on(lease.holder, context_),
            .waiters_ahead = result_.places[index].waiters_ahead};
  }

  Blocked evidence(std::size_t index, const Ticket& ticket, const WantedPath& touching) const {
    Holder waiter = ticket.request->caller.holder;
    waiter.process = process_of(ticket);
    return {.path = request_.paths[index].path,
            .waits = true,
            .holder = waiter,
            .held_path = touching.path,
            .subtree = touching.subtree,
            .mode = ticket.request->mode,
            .reason = ticket.request->reason,
            .acquired_at = ticket.arrival,
            .last_heartbeat_at = ticket.arrival,
            .expires_at = ticket.wait_until,
            .verdict = verdict_on(waiter, context_),
            .waiters_ahead = result_.places[index].waiters_ahead};
  }

  View& view_;
  const Context& context_;
  const AcquireRequest& request_;
  const Time now_;
  std::set<LeaseId> seen_leases_;
  std::set<GroupId> seen_tickets_;
  Survey result_;
};

// A ticket's place as it is now; only upgrades, which are few, have to be looked at for that.
Rank rank_now(View& view, const Context& context, const Ticket& ticket) {
  return rank_of(ticket, ticket.upgrade && Surveyor(view, context, ticket.request).would_upgrade());
}

}  // namespace

std::size_t Survey::waiters_ahead() const {
  std::size_t most = 0;
  for (const Place& place : places) most = std::max(most, place.waiters_ahead);
  return most;
}

Survey survey(View& view, const Context& context, const AcquireRequest& request, const Ticket* waiting,
              const Ticket* also) {
  return Surveyor(view, context, request).run(waiting, also);
}

Survey survey_alone(View& view, const Context& context, const Ticket& waiting) {
  return Surveyor(view, context, waiting.request).run(&waiting, nullptr, true);
}

std::vector<Ticket> in_order(View& view, const Context& context, std::vector<Ticket> tickets) {
  struct Place {
    Rank rank;
    Ticket* ticket;
  };
  std::vector<Place> places;
  places.reserve(tickets.size());
  for (Ticket& ticket : tickets) places.push_back({rank_now(view, context, ticket), &ticket});
  std::ranges::sort(places, before, &Place::rank);
  std::vector<Ticket> ordered;
  ordered.reserve(tickets.size());
  for (const Place& place : places) ordered.push_back(std::move(*place.ticket));
  return ordered;
}

Queued place_in_queue(const Ticket& ticket, Survey found, Time now) {
  const std::size_t more = shorten(found.blocked);
  return {.ticket = ticket.id,
          .position = found.waiters_ahead() + 1,
          .at = now,
          .wait_until = ticket.wait_until,
          .blocked = std::move(found.blocked),
          .more_blocked = more};
}

std::size_t shorten(std::vector<Blocked>& blocked) {
  constexpr std::ptrdiff_t kForOnePath = 10;
  const std::size_t before = blocked.size();
  std::vector<Blocked> kept;
  for (auto at = blocked.begin(); at != blocked.end();) {
    const auto end =
        std::find_if(at, blocked.end(), [&](const Blocked& one) { return one.path != at->path; });
    if (end - at > kForOnePath) {
      std::stable_partition(at, end, [](const Blocked& one) { return !one.waits; });
    }
    std::move(at, at + std::min(end - at, kForOnePath), std::back_inserter(kept));
    at = end;
  }
  blocked = std::move(kept);
  return before - blocked.size();
}

bool conflict(const Ticket& a, const Ticket& b) {
  if (compatible(a.request->mode, b.request->mode)) return false;
  if (owns(a.request->caller, b.request->caller.holder.owner)) return false;
  if (owns(b.request->caller, a.request->caller.holder.owner)) return false;
  return std::ranges::any_of(a.request->paths, [&](const WantedPath& wanted) {
    return std::ranges::any_of(b.request->paths,
                               [&](const WantedPath& other) { return overlaps(wanted, other); });
  });
}

}  // namespace leasehold
