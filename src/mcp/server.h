// The Model Context Protocol, whatever carries it: one message in, its answer out.
//
// Two eras are served at once. A request that says its version in _meta (2026-07-28) stands for itself. A
// client that begins with `initialize` (2025-11-25, 2025-06-18) is known from then on.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "mcp/subscriptions.h"
#include "mcp/tool.h"

namespace leasehold::mcp {

struct ServerOptions {
  std::string version;  // Of this program.
  // One client is at the other end as long as the server exists: it introduces itself, and can subscribe.
  // False: each message may come from another one, as over HTTP.
  bool keeps_client = true;
};

// How one message is answered.
struct Exchange {
  int cancelled = -1;  // Readable once nobody wants the answer any more; -1: never.
  Notify notify;       // To the client, before the answer; and for subscriptions after it. Thread-safe.
};

// Thread-safe.
class Server {
 public:
  Server(Desk& desk, ServerOptions options);

  // Nothing: it is a notification. May block if may_wait(message).
  std::optional<json::object> answer(const Message& message, const Exchange& exchange);

  // Whether answering may take longer than the store does: to be done on a thread of its own.
  static bool may_wait(const Message& message);

  // The client gave the request up: what it was granted goes back, even if the answer is on its way.
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
  json::object capabilities(bool is_modern) const;
  void note_granted(const json::value& request_id, std::vector<LeaseId> granted);

  Desk& desk_;
  const ServerOptions options_;
  std::mutex mutex_;                   // Guards the two below.
  std::optional<std::string> client_;  // Who introduced itself; by its agent's name.
  // What the latest requests were granted. A client can give up only what it waits for, so a few are enough.
  std::deque<std::pair<json::value, std::vector<LeaseId>>> granted_;
  Subscriptions subscriptions_;
};

}  // namespace leasehold::mcp
