#include "engine/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/live.h"
#include "engine/ownership.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

Filter only(const Owner& owner) { return {.agent_id = owner.agent_id, .session_id = owner.session_id}; }

// What is over does not count, and nobody may have recorded it yet.
std::size_t count_live_leases(Ledger& ledger, const Owner& owner) {
  for (const Lease& lease : ledger.transaction().leases(only(owner))) {
    if (const EndCause cause = lapse(lease, ledger.now(), ledger.context()); cause != EndCause::none) {
      ledger.end(lease, cause);
    }
  }
  return ledger.transaction().lease_count(owner);
}

// Active leases, `more` of which may be too many. Looks at each of them only if it matters.
std::size_t count_leases(Ledger& ledger, const Owner& owner, std::size_t more) {
  const std::size_t held = ledger.transaction().lease_count(owner);
  if (held + more <= ledger.context().policy.leases_per_owner_max) return held;
  return count_live_leases(ledger, owner);
}

bool is_live(Ledger& ledger, const Ticket& ticket) {
  return lapse(ticket, ledger.now(), ledger.context()) == EndCause::none;
}

// The caller's own live lease on exactly this scope is there, to be upgraded in place.
bool has_lease(Ledger& ledger, const Caller& caller, const Scope& scope) {
  return std::ranges::any_of(ledger.transaction().leases_at(scope), [&](const Lease& lease) {
    return lease.scope() == scope && owns(caller, lease.holder.owner) &&
           lapse(lease, ledger.now(), ledger.context()) == EndCause::none;
  });
}

// An upgrade brings a lease only where its owner holds no more than a folder around, or has lost the shared
// one.
std::size_t count_brought(Ledger& ledger, const Ticket& ticket) {
  if (!ticket.upgrade) return ticket.leases.size();
  const auto brings = [&](const WantedPath& wanted) {
    return !has_lease(ledger, ticket.request->caller, wanted.scope());
  };
  return static_cast<std::size_t>(std::ranges::count_if(ticket.request->paths, brings));
}

std::size_t count_pending_leases(Ledger& ledger, const Owner& owner) {
  std::size_t pending = 0;
  for (const Ticket& ticket : ledger.transaction().tickets(only(owner))) {
    if (is_live(ledger, ticket)) pending += count_brought(ledger, ticket);
  }
  return pending;
}

std::string and_waits_for(std::size_t pending) {
  return pending == 0 ? "" : fmt::format(", waits for {}", pending);
}

Result<void> check_owner_limit(Ledger& ledger, const Owner& owner, std::size_t wanted) {
  const std::size_t allowed = ledger.context().policy.leases_per_owner_max;
  const std::size_t pending = count_pending_leases(ledger, owner);
  const std::size_t held = count_leases(ledger, owner, pending + wanted);
  if (held + pending + wanted <= allowed) return {};
  return fail(Code::limit_exceeded,
              fmt::format("{} holds {} leases{} and asked for {} more; the limit is {}. Release some first: "
                          "lease release --all",
                          in_sentence(owner.agent_id), held, and_waits_for(pending), wanted, allowed));
}

// Only those who name that very path: who waits for something below a directory is not in its queue.
std::size_t count_waiters(Ledger& ledger, const std::vector<Ticket>& tickets, const std::string& path) {
  const auto counts = [&](const Ticket& ticket) {
    const bool names_it =
        std::ranges::find(ticket.request->paths, path, &WantedPath::path) != ticket.request->paths.end();
    return names_it && is_live(ledger, ticket);
  };
  return static_cast<std::size_t>(std::ranges::count_if(tickets, counts));
}

}  // namespace

Result<void> check_limits(Ledger& ledger, const AcquireRequest& request, const Survey& found) {
  const bool queues = request.wait && !found.blocked.empty();
  const auto is_new = [](const Survey::Place& place) { return !place.own; };
  const auto wanted = static_cast<std::size_t>(std::ranges::count_if(found.places, is_new));
  if (auto within = check_owner_limit(ledger, request.caller.holder.owner, wanted); !within) return within;

  if (!queues) return {};
  std::vector<Scope> places;
  for (const WantedPath& path : request.paths) places.push_back({path.path, false});
  const std::vector<Ticket> tickets = ledger.transaction().tickets_at(places);
  for (const WantedPath& path : request.paths) {
    const std::size_t waiting = count_waiters(ledger, tickets, path.path);
    if (waiting < ledger.context().policy.waiters_per_path_max) continue;
    return fail(Code::limit_exceeded,
                fmt::format("{} requests wait for {} already, and no more may. Try again later.", waiting,
                            in_sentence(path.path)));
  }
  return {};
}

Result<void> check_receiver(Ledger& ledger, const Owner& receiver) {
  const std::size_t allowed = ledger.context().policy.leases_per_owner_max;
  const std::size_t pending = count_pending_leases(ledger, receiver);
  const std::size_t held = count_leases(ledger, receiver, pending);
  if (held + pending <= allowed) return {};
  return fail(Code::limit_exceeded,
              fmt::format("{} would hold {} leases{}; the limit is {}. Hand over fewer, or to somebody else. "
                          "Nothing was changed.",
                          in_sentence(receiver.agent_id), held, and_waits_for(pending), allowed));
}

}  // namespace leasehold
