// What the manager can be asked without changing anything.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>

#include "engine/live.h"
#include "engine/records_at.h"
#include "engine/sessions.h"
#include "engine/survey.h"
#include "engine/validate.h"
#include "manager/run.h"
#include "model/scope.h"
#include "store/matching.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Events of other processes come without a bell, and one look costs some microseconds.
constexpr Duration kEventPoll = 100ms;
constexpr std::size_t kEventsAtATime = 1'000;

bool overlaps_any(const std::vector<Scope>& scopes, const Scope& scope) {
  return scopes.empty() ||
         std::ranges::any_of(scopes, [&](const Scope& one) { return overlaps(one, scope); });
}

Filter filter_of(const Listing& listing) {
  return {.agent_id = listing.agent_id, .session_id = listing.session_id, .pr_id = listing.pr_id};
}

}  // namespace

Result<Lease> LeaseManager::lease(const LeaseId& id) {
  if (auto checked = check_texts({{"lease id", id.text}}); !checked) return fail(checked.error());
  return look<Lease>(
      {.workspace = workspace_, .leases = {id}}, [&](View& view, const Context&) -> Result<Lease> {
        if (auto found = view.lease(id)) return std::move(*found);
        return fail(Code::not_found,
                    fmt::format("There is no lease {}: there never was, or it ended more than an hour ago.",
                                in_quotes(id.text)));
      });
}

Result<Board> LeaseManager::board(const Listing& listing) {
  if (auto checked = check_count(listing.paths.size(), *policy()); !checked) return fail(checked.error());
  std::vector<Scope> scopes;
  for (const std::string& path : listing.paths) {
    if (auto checked = check_key(path); !checked) return fail(checked.error());
    scopes.push_back({path, is_path(path)});
  }
  const Filter filter = filter_of(listing);
  const Footprint footprint = {.workspace = workspace_, .scopes = scopes};
  return look<Board>(footprint, [&](View& view, const Context& context) -> Result<Board> {
    Board board = {.now = view.now(), .wall = view.wall()};
    const auto add = [&](Lease lease, bool live) {
      Verdict verdict = verdict_on(lease.holder, context);
      board.rows.push_back({std::move(lease), std::move(verdict), live});
    };
    std::vector<Lease> leases = scopes.empty() ? view.leases(filter) : leases_at(view, scopes);
    board.rows.reserve(leases.size());
    for (Lease* lease : order_by_path(leases)) {
      if (!matches(filter, lease->holder)) continue;
      const bool live = lapse(*lease, view.now(), context) == EndCause::none;
      add(std::move(*lease), live);
    }
    std::vector<Ticket> tickets = scopes.empty() ? view.tickets(filter) : view.tickets_at(scopes);
    std::erase_if(tickets,
                  [&](const Ticket& ticket) { return !matches(filter, ticket.request->caller.holder); });
    const bool has_waiters = !tickets.empty();
    for (const Ticket& ticket : in_order(view, context, std::move(tickets))) {
      const bool live = lapse(ticket, view.now(), context) == EndCause::none;
      for (const LeaseId& id : ticket.leases) {
        std::optional<Lease> lease = view.lease(id);
        if (!lease || !overlaps_any(scopes, lease->scope())) continue;
        lease->holder.process = process_of(ticket);
        add(*std::move(lease), live);
      }
    }
    if (has_waiters) {
      std::ranges::stable_sort(board.rows, {},
                               [](const BoardRow& row) -> const std::string& { return row.lease.path; });
    }
    return board;
  });
}

Result<SessionPaths> LeaseManager::session_paths(const std::string& session_id) {
  return look<SessionPaths>({.workspace = workspace_}, [&](View& view, const Context&) {
    return leasehold::session_paths(view, session_id);
  });
}

Result<std::vector<Event>> LeaseManager::history(const HistoryQuery& query) {
  if (query.path) {
    if (auto checked = check_key(*query.path); !checked) return fail(checked.error());
  }
  return look<std::vector<Event>>(
      {.workspace = workspace_},
      [&](View& view, const Context&) -> Result<std::vector<Event>> { return view.history(query); });
}

Result<std::vector<Event>> LeaseManager::events(std::uint64_t after, Duration wait, int cancelled) {
  const auto end = std::chrono::steady_clock::now() + at_most_a_year(wait);
  for (;;) {
    auto found = history({.after = after, .limit = kEventsAtATime, .oldest = true});
    if (!found || !found->empty()) return found;
    const auto left = std::chrono::ceil<Duration>(end - std::chrono::steady_clock::now());
    if (left <= Duration::zero()) return found;
    pollfd gave_up = {cancelled, POLLIN, 0};
    ::poll(&gave_up, 1, static_cast<int>(std::min(left, kEventPoll).count()));
    if (gave_up.revents != 0) return found;
  }
}

}  // namespace leasehold
