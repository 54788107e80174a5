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

struct Heard {
  std::string text;
  std::uint64_t latest = 0;
  std::optional<Error> error;
};

// All that is held, and where history stands then. Asked in this order, so that nothing falls in between.
Heard snapshot(LeaseManager& manager) {
  const auto latest = manager.latest_event();
  if (!latest) return {.text = {}, .error = latest.error()};
  const auto board = manager.board();
  if (!board) return {.text = {}, .error = board.error()};
  return {.text = event_text(*latest, "snapshot", board_json(*board)), .latest = *latest, .error = {}};
}

// Whether something that came behind `after` may be forgotten already, or `after` never was.
Result<bool> has_gap(LeaseManager& manager, std::uint64_t after) {
  if (after == 0) return false;
  const auto oldest = manager.history({.limit = 1, .oldest = true});
  if (!oldest) return fail(oldest.error());
  const auto latest = manager.latest_event();
  if (!latest) return fail(latest.error());
  return after > *latest || (!oldest->empty() && oldest->front().sequence > after);
}

Heard begin(LeaseManager& manager, const EventStream& from) {
  if (!from.is_resumed) return snapshot(manager);
  const auto gap = has_gap(manager, from.after);
  if (!gap) return {.text = {}, .error = gap.error()};
  return *gap ? snapshot(manager) : Heard{.text = {}, .latest = from.after, .error = {}};
}

Heard hear(LeaseManager& manager, std::uint64_t after) {
  const auto events = manager.events(after);
  if (!events) return {.text = {}, .latest = after, .error = events.error()};
  Heard heard = {.text = {}, .latest = after, .error = {}};
  for (const Event& event : *events) {
    heard.text += event_text(event.sequence, word(event.type), event_json(event));
    heard.latest = event.sequence;
  }
  return heard;
}

}  // namespace

asio::awaitable<bool> EventTeller::next(int socket, std::string& text) {
  const std::uint64_t before = server_.batches;
  Heard heard;
  Task job = [&heard, this] { heard = began_ ? hear(*manager_, from_.after) : begin(*manager_, from_); };
  // A snapshot has all there is.
  co_await run_on(began_ ? server_.reader : server_.lister, job);
  const auto now = std::chrono::steady_clock::now();
  if (!heard.error) {
    began_ = true;
    from_.after = heard.latest;
  }
  text = heard.text;
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
