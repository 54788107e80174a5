// What a client of the years with a handshake subscribed to, and the thread that tells it.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "mcp/resources.h"
#include "util/nudge.h"

namespace leasehold::mcp {

using Notify = std::function<void(json::object)>;

// Thread-safe. The thread starts with the first subscription.
class Subscriptions {
 public:
  explicit Subscriptions(Desk& desk) : desk_(desk) {}
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;
  ~Subscriptions() { stop(); }

  // What changes from now on is told.
  void add(const std::string& uri, const Notify& notify);
  void remove(const std::string& uri);

  // For good. Returns when nobody is being told any more.
  void stop();

 private:
  std::vector<std::string> uris();

  Desk& desk_;
  Nudge stop_;
  std::mutex mutex_;  // Guards the set, and the start of the thread.
  std::set<std::string> uris_;
  std::jthread thread_;  // Last: it ends before what it uses.
};

// Told for each resource that changes, until `cancelled` becomes readable. `uris` may change meanwhile.
void follow(Changes& changes, const std::function<std::vector<std::string>()>& uris,
            const std::function<void(const std::string& uri)>& tell, int cancelled);

}  // namespace leasehold::mcp
