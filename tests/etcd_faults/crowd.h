// Clients that want the same few files, each with a store of its own, while something happens to the cluster;
// and what must be true of the history they leave.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "processes/replay.h"
#include "support/etcd_client.h"
#include "support/etcd_cluster.h"

namespace leasehold {

class Crowd {
 public:
  explicit Crowd(const EtcdCluster& cluster, int clients = 5);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  int grants() const { return grants_; }
  // Waits until so many more grants were made; false after a minute.
  bool goes_on(int grants = 20) const;

  // Ends the clients and looks at all that happened: no two conflicting holders, tokens that rise on each
  // path, whole grants, nothing lost that was acknowledged, nobody left behind. Fails the test if one is not
  // so.
  void end_and_check();

 private:
  void work(const std::string& name, unsigned seed);
  void follow();
  void complain(const Error& error);
  std::optional<std::string> look(EtcdClient& client);

  const std::string url_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> stop_following_ = false;
  std::atomic<int> grants_ = 0;
  std::atomic<int> troubles_ = 0;
  std::mutex mutex_;                    // Guards what follows.
  std::vector<std::string> errors_;     // That should not have been.
  std::set<std::string> acknowledged_;  // Leases, by id.
  std::set<std::string> in_history_;    // The same.
  std::optional<std::string> wrong_;
  processes::Replay replay_;
  std::vector<std::jthread> clients_;
  std::jthread follower_;
};

}  // namespace leasehold
