// What happens, as Server-Sent Events.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <utility>

#include "daemon/server_state.h"
#include "daemon/snapshot.h"

namespace leasehold::daemon {

// Tells one listener. It hears all that is held first (event: snapshot), unless it says where it was and
// nothing since then is forgotten; then each event once, in order.
class EventTeller final : public Teller {
 public:
  EventTeller(ServerState& server, std::shared_ptr<LeaseManager> manager, const EventStream& from)
      : server_(server), manager_(std::move(manager)), from_(from) {}

  // Events, a piece of a snapshot, or now and then a comment that keeps the connection alive.
  asio::awaitable<bool> next(int socket, std::string& text) override;

 private:
  Result<void> begin();
  std::string hear();

  ServerState& server_;
  const std::shared_ptr<LeaseManager> manager_;
  EventStream from_;
  bool began_ = false;
  std::unique_ptr<Snapshot> snapshot_;  // Until all of it is told.
  std::chrono::steady_clock::time_point last_said_ = std::chrono::steady_clock::now();
};

}  // namespace leasehold::daemon
