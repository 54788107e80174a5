// Clients of the years with a handshake: who they said they are, and what they have going.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/mcp_call.h"

namespace leasehold::daemon {

struct McpSession {
  McpPlace place;              // Its owner's session is the session's id, unless the address says another.
  std::set<std::string> uris;  // It subscribed to these.
  // What it was told of up to; nothing: it did not subscribe yet.
  std::optional<std::uint64_t> told = {};
  std::map<std::string, std::weak_ptr<McpCall>> running = {};  // By the request's id, as JSON.
  mcp::Grants grants = {};
  std::set<LeaseId> granted = {};  // By any request, and not known to be over.
  bool is_over = false;            // It was ended; who still listens is let go.
  std::chrono::steady_clock::time_point used = std::chrono::steady_clock::now();

  bool runs(const std::string& id) const;  // And nobody gave it up.
  void let_go(const McpCall& call);        // It runs no more. Another may have its id by now.
  void note(const McpCall& call);          // It was answered.
  // The client gave the request up after its answer. What is to go back.
  std::vector<LeaseId> give_up(const mcp::json::value& request_id);
};

// Belongs to the loop's thread.
class McpSessions {
 public:
  // When there are too many, the one of the same principal that was silent for longest makes room; of
  // anybody, if that principal has none. Its leases end by their time.
  void add(const std::string& id, std::shared_ptr<McpSession> session);

  // Null: there is none, or it is another principal's.
  std::shared_ptr<McpSession> find(const std::string& id, const Principal& principal);

  void remove(const std::string& id) { sessions_.erase(id); }

  // The server ends. Gives back what was granted to those who cannot come back as who they were.
  void end() const;

 private:
  void make_room(const std::string& principal);

  std::map<std::string, std::shared_ptr<McpSession>> sessions_;
};

}  // namespace leasehold::daemon
