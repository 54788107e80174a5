// Bells: the server pushes each ring to whoever listens to that ticket (pub/sub, one channel for each
// ticket).
//
// A ring that is sent while the connection is down is lost; a waiter looks again by itself now and then, so
// that costs it a moment.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/json/rings.h"
#include "store/redis/pool.h"
#include "store/store.h"
#include "util/nudge.h"

namespace leasehold::redis {

// Thread-safe. One connection and one thread serve all bells of a store, from the first listen() on.
class Bells : public std::enable_shared_from_this<Bells> {
 public:
  Bells(Pool& pool, Rings& rings, Duration timeout) : pool_(pool), rings_(rings), timeout_(timeout) {}
  ~Bells() { stop(); }
  Bells(const Bells&) = delete;
  Bells& operator=(const Bells&) = delete;

  // Returns when the server has confirmed that it will push.
  // Errors: unavailable, config_error (the user may not listen).
  Result<std::unique_ptr<Bell>> listen(const GroupId& ticket);

  // Ends the thread. Bells may live on, silent.
  void stop();

 private:
  void close(const std::string& channel, const Nudge& nudge);
  Result<void> start();
  void serve();
  bool connect_again();
  void exchange_once();
  void hear();
  void take_in(ReplyView message, std::vector<std::shared_ptr<Nudge>>& rung);
  void nudge_thread();

  Pool& pool_;
  Rings& rings_;
  const Duration timeout_;
  std::optional<Nudge> wakeup_;  // Of the thread, once it runs: something is to be sent, or it is to end.
  std::thread thread_;
  std::unique_ptr<Connection> connection_;  // The thread's, once that runs.

  std::mutex mutex_;  // Guards what follows.
  std::condition_variable confirmed_;
  bool running_ = false;
  bool stopping_ = false;
  std::map<std::string, std::set<std::shared_ptr<Nudge>>> listeners_;  // Whom to wake, by channel.
  std::set<std::string> heard_;                                        // Channels that the server confirmed.
  std::optional<Error> refusal_;  // What the server last said against it.
  std::set<std::string> to_open_;
  std::set<std::string> to_close_;
};

}  // namespace leasehold::redis
