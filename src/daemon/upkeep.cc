#include "daemon/upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <set>
#include <utility>

#include "daemon/connection.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kEvery = 1s;
// Others get their turn between two steps: some milliseconds each. With 200 a sweep of many takes a fifth
// longer, with 1000 others wait twice as long.
constexpr std::size_t kSweptAtOnce = 500;
// Of a workspace that is new here.
constexpr std::size_t kNewestMost = 10'000;
// Counting takes at most one part in so many of the time.
constexpr int kCountShare = 50;

// A workspace in which nobody has anything is served for so long after somebody asked for it.
constexpr auto kEmptyKept = 1min;

struct Seen {
  Metrics::Standing standing;
  std::vector<std::string> empty;  // Workspaces.
  OwnersThere late;                // They have something that is over, and nobody recorded it.
  Token highest{};                 // Of those that are held.
};

Seen look_everywhere(Services& services) {
  Seen seen;
  Metrics::Standing& now = seen.standing;
  std::string last;
  for (const auto& [workspace, known] : services.managers()) {
    if (workspace == std::exchange(last, workspace)) continue;  // Another profile's, on the same leases.
    const auto manager = known.lock();
    const auto board = manager ? manager->board() : fail(Code::not_found, "It is not served any more.");
    if (!board) continue;
    if (board->rows.empty()) seen.empty.push_back(workspace);
    const bool ends_what_is_over = manager->policy()->auto_expire;
    std::set<Owner> owners;
    for (const BoardRow& row : board->rows) {
      if (!row.live) {
        if (ends_what_is_over) seen.late[manager].insert(row.lease.holder.owner);
        continue;
      }
      (row.lease.status == Status::active ? now.leases : now.waiters) += 1;
      seen.highest = std::max(seen.highest, row.lease.token);
      owners.insert(row.lease.holder.owner);
    }
    now.agents += owners.size();
  }
  return seen;
}

}  // namespace

void Upkeep::start(std::function<void()> ended) {
  running_ = true;
  asio::co_spawn(server_.io, run(), [this, ended = std::move(ended)](const std::exception_ptr&) {
    running_ = false;
    ended();
  });
}

void Upkeep::stop() {
  stopped_ = true;
  timer_.cancel();
  server_.watched.clear();
}

// Of those who held something before this daemon was started.
asio::awaitable<void> Upkeep::watch_holders() {
  const auto manager = server_.services.manager("", "");
  if (!manager) co_return;
  Result<Board> board;
  Task job = [&board, &manager] { board = (*manager)->board(); };
  co_await run_on(server_.lister, job);
  if (!board) co_return;
  for (const BoardRow& row : board->rows) {
    if (row.live) watch_process(server_, row.lease.holder, *manager);
  }
}

asio::awaitable<void> Upkeep::make_round() {
  Task refresh = [this] { server_.services.refresh_moment(); };
  co_await run_on(server_.reader, refresh);
  std::string last;
  const auto managers = server_.services.managers();
  for (const auto& [workspace, known] : managers) {
    if (workspace == last || stopped_) continue;  // Another profile's, on the same leases.
    last = workspace;
    const std::shared_ptr<LeaseManager> manager = known.lock();
    if (!manager) continue;
    co_await sweep(*manager);
    co_await count_events(workspace, *manager);
    co_await forget(workspace, *manager);
  }
  forget_names();
  co_await remember();
  turn_out(server_, false);
  if (server_.services.health().failure()) co_await probe_writes(server_);
  co_await count();
  server_.services.pages().forget_old();
}

asio::awaitable<void> Upkeep::run() {
  co_await watch_holders();
  while (!stopped_) {
    try {
      co_await make_round();
    } catch (const std::exception& thrown) {  // The next one may find what was missing here: memory.
      server_.log.say(LogLevel::warning, fmt::format("What is over was not swept: {}.", thrown.what()));
    }
    timer_.expires_after(kEvery);
    boost::system::error_code ignored;
    if (!stopped_) co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

// Of workspaces that are not served any more. Where something has happened, what was counted stays: it must
// not be counted again.
void Upkeep::forget_names() {
  std::set<std::string> served;
  for (const auto& [workspace, manager] : server_.services.managers()) served.insert(workspace);
  std::erase_if(counted_, [&](const auto& one) { return one.second == 0 && !served.contains(one.first); });
  std::erase_if(next_cleanup_, [&](const auto& one) { return !served.contains(one.first); });
}

asio::awaitable<void> Upkeep::sweep(LeaseManager& manager) {
  bool more = true;
  Swept swept;
  Task job = [&] {
    swept = {};
    more = manager.policy()->auto_expire && manager.sweep_some(kSweptAtOnce, swept).value_or(false);
  };
  while (more && !stopped_) {
    const Result<void> kept = co_await run_on(server_.writer, job);
    if (kept) server_.metrics.swept(swept);
  }
}

asio::awaitable<void> Upkeep::remember() {
  if (server_.memory == nullptr) co_return;
  Result<void> saved;
  Task job = [this, &saved] { saved = server_.memory->save(highest_); };
  co_await run_on(server_.lister, job);
  // That the store takes no writes is said already.
  const bool complains = !saved && !server_.services.health().failure();
  if (complains && !complained_) server_.log.say(LogLevel::warning, saved.error().message);
  complained_ = complains;
}

// Who holds and who waits, in all workspaces that somebody asked for. All of them are looked at, so with many
// it is done less often. Who died and was not watched, or not reclaimed, is found by the way.
asio::awaitable<void> Upkeep::count() {
  const auto began = std::chrono::steady_clock::now();
  if (began < next_count_) co_return;
  Seen seen;
  Task job = [&] { seen = look_everywhere(server_.services); };
  co_await run_on(server_.lister, job);
  server_.standing = seen.standing;
  highest_ = std::max(highest_, seen.highest);  // Without history nothing else tells of it.
  reclaim(server_, seen.late);
  for (const std::string& workspace : seen.empty)
    server_.services.retire(workspace, Services::Clock::now() - kEmptyKept);
  const auto ended = std::chrono::steady_clock::now();
  next_count_ = ended + kCountShare * (ended - began);
}

// From the history, so that what other processes did on the same store counts as well.
asio::awaitable<void> Upkeep::count_events(const std::string& workspace, LeaseManager& manager) {
  // At first what happened since the server was started.
  HistoryQuery query;
  const auto known = counted_.find(workspace);
  const bool first = known == counted_.end();
  if (first) {
    query.limit = kNewestMost;
  } else {
    query.after = known->second;
  }
  Result<std::vector<Event>> events;
  Task job = [&] { events = manager.history(query); };
  co_await run_on(server_.lister, job);
  if (!events) co_return;
  std::uint64_t& counted = counted_[workspace];
  if (events->empty()) co_return;
  counted = events->back().sequence;
  if (first) std::erase_if(*events, [this](const Event& event) { return event.wall < started_; });
  server_.metrics.happened(*events);
  for (const Event& event : *events) highest_ = std::max(highest_, event.token);
}

asio::awaitable<void> Upkeep::forget(const std::string& workspace, LeaseManager& manager) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_cleanup_[workspace]) co_return;
  bool more = true;
  Swept swept;
  Duration interval{};
  Task job = [&] {
    swept = {};
    const auto policy = manager.policy();
    interval = policy->cleanup_interval;
    more = policy->auto_expire && manager.forget_some(policy->history_life, swept).value_or(false);
  };
  while (more && !stopped_) {
    co_await run_on(server_.writer, job);
    server_.metrics.swept(swept);
  }
  next_cleanup_[workspace] = now + interval;
}

}  // namespace leasehold::daemon
