#include "daemon/mcp.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <utility>

#include "daemon/mcp_headers.h"
#include "daemon/mcp_telling.h"
#include "env/system_random.h"

namespace leasehold::daemon {
namespace {

namespace json = boost::json;

// Longer than any wait: who does not take streams gets its answer at once when there is one.
constexpr Duration kLong = std::chrono::seconds(60);

Response fault(int status, const json::value& id, const mcp::Fault& what) {
  return json_response(status, mcp::fault_reply(id, what));
}

Response taken() { return {.status = 202, .body = {}, .headers = {}}; }

// The era without a handshake has statuses for what it could not even begin with.
Response answer_response(const McpCall& call, bool is_modern) {
  int status = 200;
  const json::object* const error = mcp::object_at(call.answer(), "error");
  if (is_modern && error != nullptr && error->at("code") == mcp::kMethodNotFound) status = 404;
  return json_response(status, call.answer());
}

// Where, and for whom as far as the address and the credential say.
Result<McpPlace> place_of(ServerState& server, const Request& request) {
  const auto told = [&](const char* name) { return request.parameter(name).value_or(""); };
  std::string workspace = server.services.name_of(told("workspace"));
  const auto manager = server.services.manager(workspace, told("profile"));
  if (!manager) return fail(manager.error());
  McpPlace place = {.services = &server.services,
                    .manager = *manager,
                    .workspace = std::move(workspace),
                    .profile = told("profile"),
                    .client_root = told("root"),
                    .principal = request.principal,
                    .owner = {told("agent_id"), told("session_id")},
                    .pr_id = told("pr_id"),
                    .trace = std::string(request.header("traceparent")),
                    .withheld = server.withheld()};
  if (place.owner.agent_id.empty()) place.owner.agent_id = request.principal.agent_id;
  place.is_somebody = !place.owner.agent_id.empty();
  return place;
}

std::string session_id(const Request& request) { return std::string(request.header("mcp-session-id")); }

// The session that a request of the years with a handshake belongs to; or what is wrong with it.
std::expected<std::shared_ptr<McpSession>, Response> session_of(ServerState& server, const Request& request,
                                                                const json::value& id) {
  const std::string_view version = request.header("mcp-protocol-version");
  if (!version.empty() && !mcp::is_legacy_version(version)) {
    return std::unexpected(fault(
        400, id, {mcp::kInvalidRequest, fmt::format("MCP-Protocol-Version {} is not served.", version)}));
  }
  if (session_id(request).empty()) {
    return std::unexpected(fault(
        400, id, {mcp::kInvalidRequest, "Begin with initialize, and send Mcp-Session-Id from then on."}));
  }
  auto session = server.mcp_sessions->find(session_id(request), request.principal);
  if (session == nullptr) {
    return std::unexpected(
        fault(404, id, {mcp::kInvalidRequest, "There is no such session any more. Begin with initialize."}));
  }
  return session;
}

std::string begin_session(ServerState& server, McpPlace place, const mcp::Message& message) {
  SystemRandom random;
  const std::string id = "mcp-" + make_uuid(random);
  const json::object* const client = mcp::object_at(message.params, "clientInfo");
  if (place.owner.agent_id.empty() && client != nullptr) place.owner.agent_id = mcp::agent_of(*client);
  if (place.owner.session_id.empty()) place.owner.session_id = place.own_session = id;
  auto session = std::make_shared<McpSession>();
  session->place = std::move(place);
  server.mcp_sessions->add(id, std::move(session));
  return id;
}

// What it was granted goes back, even if the answer is on its way.
asio::awaitable<void> cancel(ServerState& server, const std::shared_ptr<McpSession>& session,
                             const json::value& id) {
  const auto running = session->running.find(json::serialize(id));
  const auto call = running == session->running.end() ? nullptr : running->second.lock();
  if (call) {
    call->cancel();
    co_return;
  }
  const std::vector<LeaseId> ids = session->give_up(id);
  if (ids.empty()) co_return;
  Task back = [&] { give_back(session->place, ids); };
  co_await run_on(server.writer, back);
}

asio::awaitable<void> end_session(ServerState& server, const Request& request, Response& response) {
  const auto session = session_of(server, request, nullptr);
  if (!session) {
    response = session.error();
    co_return;
  }
  server.mcp_sessions->remove(session_id(request));
  (*session)->is_over = true;
  for (const auto& [id, running] : (*session)->running) {
    if (const auto call = running.lock()) call->cancel();
  }
  const std::vector<LeaseId> ids((*session)->granted.begin(), (*session)->granted.end());
  Task back = [&] { give_back((*session)->place, ids); };
  co_await run_on(server.writer, back);
  response.status = 204;
}

// Subscribes and unsubscribes, as the call was told to.
asio::awaitable<void> follow(ServerState& server, const std::shared_ptr<McpSession>& session,
                             const McpCall& call) {
  if (!session->told) {
    std::optional<std::uint64_t> latest;
    Task look = [&] {
      if (const auto found = session->place.manager->latest_event()) latest = *found;
    };
    co_await run_on(server.reader, look);
    session->told = latest;
  }
  for (const McpCall::Following& one : call.following()) {
    if (one.on) {
      session->uris.insert(one.uri);
    } else {
      session->uris.erase(one.uri);
    }
  }
}

// Answers one request. `session`: null in the era without a handshake.
asio::awaitable<void> answer(ServerState& server, const std::shared_ptr<McpCall>& call,
                             const std::shared_ptr<McpSession>& session, bool takes_streams, int socket,
                             Response& response, std::unique_ptr<Teller>& stream) {
  const std::string id = json::serialize(call->message().id);
  // Before it does anything, so that whoever cancels it finds it.
  if (session) session->running[id] = call;
  co_await call->begin(server);
  if (!session && call->acknowledged()) {
    if (takes_streams) {
      stream = std::make_unique<ChangeTeller>(server, call);
    } else {
      response = problem(406, "not_acceptable", "This is answered with a stream: Accept: text/event-stream.");
    }
    co_return;
  }
  if (session && !call->following().empty()) co_await follow(server, session, *call);
  if (call->is_pending() && takes_streams) {
    stream = std::make_unique<CallTeller>(server, call, session);
    co_return;
  }
  while (call->is_pending() && !server.is_stopping && !has_left(socket) && !call->is_cancelled()) {
    co_await call->sleep(server, socket, kLong);
    if (!has_left(socket) && !call->is_cancelled()) co_await call->look(server);
  }
  if (session) session->let_go(*call);
  if (call->is_pending() || has_left(socket) || call->is_cancelled()) {
    co_await call->give_up(server);
    response = problem({Code::unavailable, "The call was given up. Nothing is held or queued."});
    co_return;
  }
  if (session) session->note(*call);
  response = answer_response(*call, session == nullptr);
}

asio::awaitable<void> respond_to_modern(ServerState& server, const Request& request, mcp::Message& message,
                                        int socket, Response& response, std::unique_ptr<Teller>& stream) {
  if (!message.is_request()) {
    response = taken();
    co_return;
  }
  std::optional<mcp::Fault> wrong = header_mismatch(request, message);
  if (!wrong) wrong = mcp::missing_in(message);
  if (wrong) {
    response = fault(400, message.id, *wrong);
    co_return;
  }
  Result<McpPlace> place = place_of(server, request);
  if (!place) {
    response = problem(place.error());
    co_return;
  }
  auto call = std::make_shared<McpCall>(*place, std::move(message));
  std::shared_ptr<McpSession> none;
  co_await answer(server, call, none, takes_streams(request), socket, response, stream);
}

asio::awaitable<void> respond_to_legacy(ServerState& server, const Request& request, mcp::Message& message,
                                        int socket, Response& response, std::unique_ptr<Teller>& stream) {
  if (message.method == "initialize" && message.is_request()) {
    Result<McpPlace> place = place_of(server, request);
    if (!place) {
      response = problem(place.error());
      co_return;
    }
    McpCall call(*place, message);
    co_await call.begin(server);
    response = answer_response(call, false);
    if (call.answer().contains("result"))
      response.headers.emplace_back("Mcp-Session-Id", begin_session(server, *place, message));
    co_return;
  }
  const auto session = session_of(server, request, message.id);
  if (!session) {
    response = session.error();
    co_return;
  }
  if (!message.is_request()) {
    const json::value* const id = message.params.if_contains("requestId");
    if (message.method == "notifications/cancelled" && id != nullptr) co_await cancel(server, *session, *id);
    response = taken();
    co_return;
  }
  if ((*session)->runs(json::serialize(message.id))) {
    // Nobody could tell their answers apart, or which of them is cancelled.
    response = fault(400, message.id, {mcp::kInvalidRequest, "A request with this id runs already."});
    co_return;
  }
  McpPlace place = (*session)->place;
  place.trace = request.header("traceparent");
  place.withheld = server.withheld();
  auto call = std::make_shared<McpCall>(place, std::move(message));
  co_await answer(server, call, *session, takes_streams(request), socket, response, stream);
}

asio::awaitable<void> post(ServerState& server, const Request& request, int socket, Response& response,
                           std::unique_ptr<Teller>& stream) {
  if (!request.header("content-type").starts_with("application/json")) {
    response = problem(415, "unsupported_media_type", "Content-Type has to be application/json.");
    co_return;
  }
  auto message = mcp::read_message(request.body);
  if (!message) {
    response = fault(400, message.error().id, message.error().fault);
    co_return;
  }
  if (mcp::is_modern(*message) || mcp::is_modern_version(request.header("mcp-protocol-version"))) {
    co_await respond_to_modern(server, request, *message, socket, response, stream);
  } else {
    co_await respond_to_legacy(server, request, *message, socket, response, stream);
  }
}

}  // namespace

asio::awaitable<void> respond_mcp(ServerState& server, const Request& request, int socket, Response& response,
                                  std::unique_ptr<Teller>& stream) {
  const auto began = std::chrono::steady_clock::now();
  const bool has_session = !session_id(request).empty();
  if (request.method == "POST") {
    co_await post(server, request, socket, response, stream);
  } else if (request.method == "GET" && has_session) {
    const auto session = session_of(server, request, nullptr);
    if (session) {
      stream = std::make_unique<ChangeTeller>(server, *session);
    } else {
      response = session.error();
    }
  } else if (request.method == "DELETE" && has_session) {
    co_await end_session(server, request, response);
  } else {
    response = problem(405, "method_not_allowed", "Messages are sent here with POST; see docs/mcp.md.");
    response.headers.emplace_back("Allow", "POST");
  }
  if (!stream) server.metrics.answered("mcp", response.status, std::chrono::steady_clock::now() - began);
}

}  // namespace leasehold::daemon
