// What the Model Context Protocol sends piece by piece.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/mcp_sessions.h"
#include "daemon/server_state.h"

namespace leasehold::daemon {

// A call that waits: how long already, then its answer. Whoever hangs up gives it up.
class CallTeller final : public Teller {
 public:
  // `session`: null in the era without a handshake.
  CallTeller(ServerState& server, std::shared_ptr<McpCall> call, std::shared_ptr<McpSession> session);
  ~CallTeller() override;

  asio::awaitable<bool> next(int socket, std::string& text) override;
  asio::awaitable<void> hang_up() override { return call_->give_up(server_); }

 private:
  std::string news();

  ServerState& server_;
  const std::shared_ptr<McpCall> call_;
  const std::shared_ptr<McpSession> session_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_said_ = began_;
};

// Which resources change.
class ChangeTeller final : public Teller {
 public:
  // Of subscriptions/listen: it is acknowledged first.
  ChangeTeller(ServerState& server, std::shared_ptr<McpCall> call);
  // Of a session: all that it subscribed to.
  ChangeTeller(ServerState& server, std::shared_ptr<McpSession> session);

  asio::awaitable<bool> next(int socket, std::string& text) override;

 private:
  std::vector<std::string> uris() const;
  void hear(std::string& text, std::uint64_t& told, const std::vector<std::string>& followed);

  ServerState& server_;
  const McpPlace place_;
  McpWorkspace workspace_;
  const std::shared_ptr<McpCall> call_;
  const std::shared_ptr<McpSession> session_;
  std::optional<std::uint64_t> told_;  // Without a session.
  bool began_ = false;
  std::chrono::steady_clock::time_point last_said_ = std::chrono::steady_clock::now();
};

// A message as an event.
std::string event_of(const boost::json::object& message);

}  // namespace leasehold::daemon
