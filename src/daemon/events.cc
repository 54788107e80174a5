#include "daemon/events.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "wire/answer_json.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kComment = 15s;
constexpr Duration kLookAgain = 100ms;  // For what other processes write.

std::string event_text(std::uint64_t id, std::string_view type, const boost::json::object& data) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, type, boost::json::serialize(data));
}

// All that is held, and where history stands then. Asked in this order, so that nothing falls in between.
Result<std::unique_ptr<Snapshot>> take_snapshot(LeaseManager& manager) {
  const auto latest = manager.latest_event();
  if (!latest) return fail(latest.error());
  auto board = manager.board();
  if (!board) return fail(board.error());
  return std::make_unique<Snapshot>(*latest, *std::move(board));
}

// Whether something that came behind `after` may be forgotten already, or `after` never was.
Result<bool> has_gap(LeaseManager& manager, std::uint64_t after) {
  const auto oldest = manager.history({.limit = 1, .oldest = true});
  if (!oldest) return fail(oldest.error());
  // Who was there before anything happened cannot tell by an event that it has seen.
  if (after == 0) return oldest->empty() || oldest->front().sequence > 1;
  const auto latest = manager.latest_event();
  if (!latest) return fail(latest.error());
  return after > *latest || (!oldest->empty() && oldest->front().sequence > after);
}

}  // namespace

Result<void> EventTeller::begin() {
  if (from_.is_resumed) {
    const auto gap = has_gap(*manager_, from_.after);
    if (!gap) return fail(gap.error());
    if (!*gap) return {};
  }
  auto snapshot = take_snapshot(*manager_);
  if (!snapshot) return fail(snapshot.error());
  snapshot_ = *std::move(snapshot);
  from_.after = snapshot_->latest();
  return {};
}

// What can be told now. Nothing can while the store cannot be asked: it is asked again.
std::string EventTeller::hear() {
  if (!began_) began_ = begin().has_value();
  if (snapshot_) {
    std::string piece = snapshot_->next_piece();
    if (snapshot_->is_told()) snapshot_.reset();
    return piece;
  }
  std::string text;
  if (!began_) return text;
  for (const Event& event : manager_->events(from_.after).value_or(std::vector<Event>())) {
    text += event_text(event.sequence, word(event.type), event_json(event));
    from_.after = event.sequence;
  }
  return text;
}

asio::awaitable<bool> EventTeller::next(int socket, std::string& text) {
  const std::uint64_t before = server_.batches;
  if (snapshot_ && snapshot_->is_overdue()) co_return false;
  Task job = [&text, this] { text = hear(); };
  // A snapshot has all there is.
  co_await run_on(began_ && !snapshot_ ? server_.reader : server_.lister, job);
  const auto now = std::chrono::steady_clock::now();
  if (text.empty() && now - last_said_ >= kComment) text = ": still here\n\n";
  if (!text.empty()) {
    last_said_ = now;
    co_return true;
  }
  const std::vector<int> fds(1, socket);
  if (before == server_.batches) co_await sleep_on(server_, fds, kLookAgain);
  co_return true;
}

}  // namespace leasehold::daemon
