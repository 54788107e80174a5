// One message of the Model Context Protocol on its way to its answer, without a thread that waits for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/mcp_client.h"
#include "daemon/mcp_workspace.h"
#include "daemon/server_state.h"
#include "mcp/server.h"
#include "util/nudge.h"

namespace leasehold::daemon {

// For whom a message is, and where, as the connection, its credential, the address and the session tell it.
struct McpPlace {
  Services* services = nullptr;
  std::shared_ptr<LeaseManager> manager;
  std::string workspace;
  std::string profile;
  std::string client_root;  // Where the client has it; empty: not said.
  Principal principal;
  Owner owner;               // An empty part: nobody says.
  std::string own_session;   // Made up for the client; empty: it was not.
  bool is_somebody = false;  // Enough is said to tell this owner from others.
  std::string pr_id;
  std::string trace;
  std::string withheld = {};  // Why nothing may be granted just now; empty: it may.
};

// Belongs to the loop's thread, but for what the workers do for it.
class McpCall {
 public:
  McpCall(McpPlace place, mcp::Message message);

  const McpPlace& place() const { return place_; }
  const mcp::Message& message() const { return message_; }

  // Has it answered, as far as that needs no waiting.
  asio::awaitable<void> begin(ServerState& server);
  // Asks again if there is a reason to, until this is false.
  bool is_pending() const { return is_pending_; }
  asio::awaitable<void> look(ServerState& server);
  // Until there is a reason to look again, or so much time has passed.
  asio::awaitable<void> sleep(ServerState& server, int socket, Duration at_most);

  // Nobody wants the answer any more: nothing stays queued, and what it was granted goes back.
  asio::awaitable<void> give_up(ServerState& server);
  // From elsewhere: whoever waits for it is to give it up.
  void cancel() { cancelled_.give(); }
  bool is_cancelled() const { return cancelled_.wait(Duration::zero()); }

  // When it is not pending.
  const mcp::json::object& answer() const { return answer_; }
  const mcp::Told& told() const { return told_; }

  std::optional<Duration> wait() const { return client_->steps() ? client_->steps()->wait : std::nullopt; }
  McpWorkspace& workspace() { return workspace_; }

  // What it wants to be told of, and what it was told about that.
  struct Following {
    std::string uri;
    bool on = true;
  };
  const std::vector<Following>& following() const { return following_; }
  const std::optional<mcp::json::object>& acknowledged() const { return acknowledged_; }

 private:
  void run();
  asio::awaitable<void> finish(ServerState& server);
  void fail_with(const Error& error);

  const McpPlace place_;
  const mcp::Message message_;
  const std::shared_ptr<McpClient> client_;
  McpWorkspace workspace_;
  mcp::Desk desk_;
  mcp::Server server_;
  mcp::json::object answer_;
  mcp::Told told_;
  std::optional<Waiting> waiting_;  // For what it wants done.
  bool is_pending_ = false;
  Nudge cancelled_;
  std::vector<Following> following_;
  std::optional<mcp::json::object> acknowledged_;
};

// Gives back what was granted through such a call. For the writer's thread.
void give_back(const McpPlace& place, const std::vector<LeaseId>& ids);

}  // namespace leasehold::daemon
