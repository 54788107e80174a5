// Bells: a ring is written beside the ticket, with its end, and etcd tells whoever watches that key.
//
// One stream carries all watches of a store. A watch is asked for before its ticket is written, from "now"
// on, and stands until the bell is closed: etcd serves such a watch at once, and one that begins in the past
// only every 100 ms. When the stream breaks, or a watch is cancelled, it is opened again, and everybody who
// listened looks for himself: what was rung meanwhile is not known.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "store/etcd/cluster.h"
#include "store/etcd/member.h"
#include "store/json/rings.h"
#include "store/store.h"
#include "util/nudge.h"

namespace leasehold::etcd {

// Thread-safe. One stream and one thread serve all bells of a store, from the first listen() on.
class Bells : public std::enable_shared_from_this<Bells> {
 public:
  Bells(const Cluster& cluster, Rings& rings) : cluster_(cluster), rings_(rings) {}
  ~Bells() { stop(); }
  Bells(const Bells&) = delete;
  Bells& operator=(const Bells&) = delete;

  // Returns when etcd has confirmed the watch.
  // Errors: unavailable.
  Result<std::unique_ptr<Bell>> listen(const std::string& workspace, const GroupId& ticket);

  // Ends the thread. Bells may live on, silent.
  void stop();

 private:
  using Stream = grpc::ClientReaderWriter<pb::WatchRequest, pb::WatchResponse>;
  struct Listener {
    GroupId ticket;
    std::string key;
    std::shared_ptr<Nudge> nudge;
    bool is_confirmed = false;
  };

  void close(std::int64_t watch);
  void cancel_closed();
  void serve();
  void open_stream(const Member& member, grpc::ClientContext& context);
  void hear(const pb::WatchResponse& message);
  std::shared_ptr<Nudge> woken_by(const pb::WatchResponse& message);
  void ask_to_watch(std::int64_t watch, const std::string& key);

  const Cluster& cluster_;
  Rings& rings_;
  std::atomic<std::int64_t> last_watch_ = 0;
  std::thread thread_;

  std::mutex
      mutex_;  // Guards what follows. Also held while writing to the stream, which one may do at a time.
  std::condition_variable changed_;
  bool running_ = false;
  bool stopping_ = false;
  std::map<std::int64_t, Listener> listeners_;  // By the number of the watch.
  std::vector<std::int64_t> closed_;            // Nobody needs these watches, and etcd has not been told yet.
  std::shared_ptr<Stream> stream_;              // Nothing: there is none just now.
  grpc::ClientContext* context_ = nullptr;      // The stream's.
};

}  // namespace leasehold::etcd
