// What the daemon does by itself: records what ended, forgets what nobody needs, notices who died.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "daemon/server_state.h"

namespace leasehold::daemon {

class Upkeep {
 public:
  explicit Upkeep(ServerState& server) : server_(server), timer_(server.io) {}

  void start(std::function<void()> ended);
  void stop();
  bool is_running() const { return running_; }

 private:
  asio::awaitable<void> run();
  asio::awaitable<void> make_round();
  asio::awaitable<void> watch_holders();
  asio::awaitable<void> count();
  asio::awaitable<void> remember();
  void forget_names();
  asio::awaitable<void> sweep(LeaseManager& manager);
  asio::awaitable<void> count_events(const std::string& workspace, LeaseManager& manager);
  asio::awaitable<void> forget(const std::string& workspace, LeaseManager& manager);

  ServerState& server_;
  asio::steady_timer timer_;
  bool stopped_ = false;
  bool running_ = false;
  const WallTime started_ =
      std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  std::map<std::string, std::uint64_t> counted_;  // Up to which event, by workspace.
  Token highest_{};                               // That was seen.
  bool complained_ = false;
  std::chrono::steady_clock::time_point next_count_;
  std::map<std::string, std::chrono::steady_clock::time_point> next_cleanup_;  // By workspace.
};

}  // namespace leasehold::daemon
