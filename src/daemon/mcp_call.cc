#include "daemon/mcp_call.h"

#include <utility>

namespace leasehold::daemon {
namespace {

namespace json = mcp::json;

// What tools are told of the caller where nobody says anything.
constexpr std::string_view kNobody = "mcp";

mcp::DeskOptions desk_options(const McpPlace& place, McpWorkspace& workspace) {
  return {.open = [&workspace](bool, bool) -> Result<OpenWorkspace*> { return &workspace; },
          .place = "/",
          .owner = place.owner,
          .pr_id = place.pr_id,
          .host = {},
          .user = std::string(kNobody),
          .session = place.own_session,
          .trace = place.trace,
          .sees_disk = workspace.is_on_disk(),
          .whole_session = !place.principal.is_one_agents()};
}

std::shared_ptr<McpClient> client_for(const McpPlace& place) {
  return std::make_shared<McpClient>(McpClient::Options{.services = *place.services,
                                                        .manager = *place.manager,
                                                        .principal = place.principal,
                                                        .is_somebody = place.is_somebody,
                                                        .withheld = place.withheld});
}

bool asks_the_store(const mcp::Message& message) {
  return message.method == "tools/call" || message.method == "resources/read";
}

}  // namespace

McpCall::McpCall(McpPlace place, mcp::Message message)
    : place_(std::move(place)),
      message_(std::move(message)),
      client_(client_for(place_)),
      workspace_({.services = *place_.services,
                  .id = place_.workspace,
                  .client_root = place_.client_root,
                  .client = client_}),
      desk_(desk_options(place_, workspace_)),
      server_(desk_, {.version = LEASEHOLD_VERSION, .keeps_client = false}) {}

void McpCall::run() {
  mcp::Exchange exchange;
  exchange.follow = [this](const std::string& uri, bool on) { following_.push_back({uri, on}); };
  exchange.remember = [this](mcp::Told told) { told_ = std::move(told); };
  if (message_.method == "subscriptions/listen")
    exchange.notify = [this](json::object told) { acknowledged_ = std::move(told); };
  if (auto answer = server_.answer(message_, exchange)) answer_ = *std::move(answer);
}

void McpCall::fail_with(const Error& error) {
  answer_ = mcp::fault_reply(message_.id, {mcp::kInternalError, error.message});
  is_pending_ = false;
}

asio::awaitable<void> McpCall::begin(ServerState& server) {
  if (!asks_the_store(message_)) {
    run();
    co_return;
  }
  Task job = [this] { run(); };
  const Result<void> done = co_await run_on(server.reader, job);
  if (!done) {
    fail_with(done.error());
    co_return;
  }
  if (!client_->steps()) co_return;
  place_.services->note_taken(place_.workspace, place_.profile);
  waiting_.emplace(*client_->steps());
  is_pending_ = true;
  co_await look(server);
}

asio::awaitable<void> McpCall::look(ServerState& server) {
  const Result<void> kept = co_await waiting_->look(server);
  if (!kept) {
    fail_with(kept.error());
  } else if (waiting_->is_done()) {
    co_await finish(server);
  }
}

asio::awaitable<void> McpCall::finish(ServerState& server) {
  Task job = [this] { run(); };
  const Result<void> done = co_await run_on(server.reader, job);
  if (!done) {
    fail_with(done.error());
  } else {
    is_pending_ = false;
  }
}

asio::awaitable<void> McpCall::sleep(ServerState& server, int socket, Duration at_most) {
  std::vector<int> fds(1, socket);
  fds.push_back(cancelled_.fd());
  co_await waiting_->sleep(server, fds, at_most);
}

asio::awaitable<void> McpCall::give_up(ServerState& server) {
  if (is_pending_) {
    // What cannot be given up now ends by its time.
    co_await waiting_->give_up(server);
    is_pending_ = false;
    co_return;
  }
  if (told_.granted.empty()) co_return;
  Task back = [this] { give_back(place_, told_.granted); };
  co_await run_on(server.writer, back);
}

void give_back(const McpPlace& place, const std::vector<LeaseId>& ids) {
  McpWorkspace workspace({.services = *place.services,
                          .id = place.workspace,
                          .client_root = place.client_root,
                          .client = place.manager});
  mcp::Desk desk(desk_options(place, workspace));
  if (desk.workspace(mcp::Desk::For::looking)) desk.give_back(ids);
}

}  // namespace leasehold::daemon
