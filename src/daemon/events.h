// What happens, as Server-Sent Events.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "daemon/server_state.h"

namespace leasehold::daemon {

// Tells one listener. It hears all that is held first (event: snapshot), unless it says where it was and
// nothing since then is forgotten; then each event once, in order.
class EventTeller {
 public:
  EventTeller(ServerState& server, const Streaming& from) : server_(server), from_(from) {}

  // The next text to send: events, a snapshot, or now and then a comment that keeps the connection alive.
  // Empty: nothing; ask again.
  asio::awaitable<void> next(int socket, std::string& text);

 private:
  ServerState& server_;
  Streaming from_;
  bool began_ = false;
  std::chrono::steady_clock::time_point last_said_ = std::chrono::steady_clock::now();
};

}  // namespace leasehold::daemon
