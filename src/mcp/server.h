// The Model Context Protocol, whatever carries it: one message in, its answer out.
//
// Two eras are served at once. A request that says its version in _meta (2026-07-28) stands for itself. A
// client that begins with `initialize` (2025-11-25, 2025-06-18) is known from then on.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "mcp/subscriptions.h"
#include "mcp/tool.h"

namespace leasehold::mcp {

struct ServerOptions {
  std::string version;  // Of this program.
  // One client is at the other end as long as the server exists, and introduces itself. False: each message
  // may come from another one, as over HTTP, and whoever makes the desk knows for whom.
  bool keeps_client = true;
};

// What a client is told besides answers: that a call still waits; that a resource changed, and by which
// subscriptions/listen it wanted to know (null: it subscribed in the years with a handshake).
json::object progress_notification(const json::value& token, double waited, double total);
json::object updated(const std::string& uri, const json::value& subscription = nullptr);

// Whether a message is of the era without a handshake, by what it says of itself; which version it says
// (empty: none); and what it should say and does not (nothing: all is there).
bool is_modern(const Message& message);
std::string_view version_of(const Message& message);
std::optional<Fault> missing_in(const Message& message);

bool is_modern_version(std::string_view version);
bool is_legacy_version(std::string_view version);

// How one message is answered.
struct Exchange {
  int cancelled = -1;  // Readable once nobody wants the answer any more; -1: never.
  Notify notify;       // To the client, before the answer; and for subscriptions after it. Thread-safe.
                       // Empty: whoever carries the answer tells how long a call waits.
  // Given: it is told what the client wants to follow, and tells of changes. Else a thread does.
  std::function<void(const std::string& uri, bool on)> follow = {};
  // Given: it remembers which leases an answer tells of. Else the server does, for give_back().
  std::function<void(Told told)> remember = {};
};

// Thread-safe.
class Server {
 public:
  Server(Desk& desk, ServerOptions options);

  // Nothing: it is a notification. May block if may_wait(message).
  std::optional<json::object> answer(const Message& message, const Exchange& exchange);

  // Whether answering may take longer than the store does: to be done on a thread of its own.
  static bool may_wait(const Message& message);

  // The client gave the request up: what it was granted goes back, even if the answer is on its way; but for
  // what another answer tells of, too.
  void give_back(const json::value& request_id);

  // The client is gone: nobody is told of anything any more.
  void hang_up() { subscriptions_.stop(); }

 private:
  struct Request;
  using Answer = std::expected<json::object, Fault>;

  Answer serve(const Message& message, const Exchange& exchange);
  Answer dispatch(const Request& request);
  Answer initialize(const json::object& params);
  Answer discover() const;
  Answer call(const Request& request);
  Answer read(const Request& request);
  Answer subscribe(const Request& request, bool on);
  Answer listen(const Request& request);
  json::object server_info() const;

  Desk& desk_;
  const ServerOptions options_;
  std::mutex mutex_;                   // Guards the two below.
  std::optional<std::string> client_;  // Who introduced itself; by its agent's name.
  Grants grants_;
  Subscriptions subscriptions_;
};

}  // namespace leasehold::mcp
