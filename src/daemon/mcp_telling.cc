#include "daemon/mcp_telling.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <utility>

#include "mcp/resources.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr auto kComment = 15s;
constexpr std::string_view kStillHere = ": still here\n\n";
constexpr Duration kTellEvery = 1s;     // How a call that waits goes on.
constexpr Duration kLookAgain = 100ms;  // For what other processes write.

}  // namespace

std::string event_of(const json::object& message) {
  return fmt::format("event: message\ndata: {}\n\n", json::serialize(message));
}

CallTeller::CallTeller(ServerState& server, std::shared_ptr<McpCall> call,
                       std::shared_ptr<McpSession> session)
    : server_(server), call_(std::move(call)), session_(std::move(session)) {}

CallTeller::~CallTeller() {
  if (session_) session_->let_go(*call_);
}

// Progress for who asked for it, else now and then a comment.
std::string CallTeller::news() {
  const auto now = std::chrono::steady_clock::now();
  const json::object* const meta = mcp::object_at(call_->message().params, "_meta");
  const json::value* const token = meta == nullptr ? nullptr : meta->if_contains("progressToken");
  if (now - last_said_ < (token == nullptr ? Duration(kComment) : kTellEvery)) return {};
  last_said_ = now;
  if (token == nullptr) return std::string(kStillHere);
  const std::chrono::duration<double> waited = now - began_;
  const std::chrono::duration<double> total = call_->wait().value_or(Duration::zero());
  return event_of(mcp::progress_notification(*token, waited.count(), total.count()));
}

asio::awaitable<bool> CallTeller::next(int socket, std::string& text) {
  bool more = true;
  if (call_->is_cancelled()) {
    co_await call_->give_up(server_);
    more = false;
  } else if (!call_->is_pending()) {
    if (session_) {
      session_->let_go(*call_);
      session_->note(*call_);
    }
    text = event_of(call_->answer());
    more = false;
  } else {
    co_await call_->sleep(server_, socket, kTellEvery);
    // Who left is not granted anything any more.
    if (!has_left(socket) && !call_->is_cancelled()) {
      co_await call_->look(server_);
      if (call_->is_pending()) text = news();
    }
  }
  co_return more;
}

ChangeTeller::ChangeTeller(ServerState& server, std::shared_ptr<McpCall> call)
    : server_(server),
      place_(call->place()),
      workspace_({.services = *place_.services,
                  .id = place_.workspace,
                  .client_root = place_.client_root,
                  .client = place_.manager}),
      call_(std::move(call)) {}

ChangeTeller::ChangeTeller(ServerState& server, std::shared_ptr<McpSession> session)
    : server_(server),
      place_(session->place),
      workspace_({.services = *place_.services,
                  .id = place_.workspace,
                  .client_root = place_.client_root,
                  .client = place_.manager}),
      session_(std::move(session)) {}

std::vector<std::string> ChangeTeller::uris() const {
  if (session_) return {session_->uris.begin(), session_->uris.end()};
  std::vector<std::string> all;
  for (const McpCall::Following& one : call_->following()) all.push_back(one.uri);
  return all;
}

void ChangeTeller::hear(std::string& text, std::uint64_t& told, const std::vector<std::string>& followed) {
  const auto events = place_.manager->events(told);
  if (!events || events->empty()) return;
  told = events->back().sequence;
  const json::value subscription = call_ ? call_->message().id : json::value();
  for (const std::string& uri : mcp::concerned(followed, mcp::places_of(*events), workspace_, "/"))
    text += event_of(mcp::updated(uri, subscription));
}

asio::awaitable<bool> ChangeTeller::next(int socket, std::string& text) {
  std::optional<std::uint64_t>& told = session_ ? session_->told : told_;
  const std::uint64_t before = server_.batches;
  const std::vector<std::string> followed = uris();
  std::optional<std::uint64_t> heard = told;
  Task job = [&] {
    if (heard) return hear(text, *heard, followed);
    if (const auto latest = place_.manager->latest_event()) heard = *latest;
  };
  co_await run_on(server_.reader, job);
  // Another stream of the session may have been faster.
  if (heard && told.value_or(0) <= *heard) told = heard;
  if (heard && !std::exchange(began_, true) && call_ && call_->acknowledged())
    text = event_of(*call_->acknowledged()) + text;
  const auto now = std::chrono::steady_clock::now();
  if (text.empty() && now - last_said_ >= kComment) text = kStillHere;
  const bool more = !session_ || !session_->is_over;
  if (!text.empty()) {
    last_said_ = now;
    co_return more;
  }
  const std::vector<int> fds(1, socket);
  if (more && before == server_.batches) co_await sleep_on(server_, fds, kLookAgain);
  co_return more;
}

}  // namespace leasehold::daemon
