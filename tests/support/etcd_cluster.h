// Real etcd members of our own: in a temporary folder, on free ports of the loopback interface.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "support/networks.h"
#include "support/temp_folder.h"

namespace leasehold {

// Ends the process if they cannot be started: these tests never skip.
class EtcdCluster {
 public:
  // Further settings, as on the command line of each; with a --cert-file clients need TLS. With networks each
  // member is in one of them.
  explicit EtcdCluster(int members = 1, std::vector<std::string> settings = {},
                       const Networks* networks = nullptr);
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;
  ~EtcdCluster();

  int size() const { return static_cast<int>(members_.size()); }
  std::string url(const std::string& prefix = "test") const;  // Names all members.
  std::string url_of(int member, const std::string& prefix = "test") const;
  std::string endpoint(int member) const;
  std::string folder() const { return temp_.path(); }

  void start(int member);  // Again, with the data it left on disk. Does not wait.
  void wait_until_ready(int member) const;
  void kill_hard(int member);
  void stop(int member);   // SIGTERM, and waits.
  void pause(int member);  // SIGSTOP.
  void go_on(int member);

  // Nothing: nobody says it is the leader just now.
  std::optional<int> leader() const;
  int wait_for_leader() const;

  // How many calls of gRPC were begun, at all members.
  double calls() const;
  // Seconds that all members have computed.
  double cpu_seconds() const;

  // Runs etcdctl against all members; its output. Ends the process if it fails.
  std::string etcdctl(const std::string& arguments) const;

 private:
  struct Member {
    std::string host = "127.0.0.1";
    int client_port = 0;
    int peer_port = 0;
    int metrics_port = 0;
    pid_t pid = -1;
  };

  std::string get(int member, const std::string& path) const;  // HTTP; empty if it does not answer.
  std::string log(int member) const;

  TempFolder temp_;
  const std::vector<std::string> settings_;
  const Networks* const networks_;
  std::vector<Member> members_;
};

// The one that tests of a program share: with a single member, or as many as LEASEHOLD_ETCD_MEMBERS says.
// Gone when the program ends.
EtcdCluster& shared_etcd();

// A URL of it with a prefix that nobody else uses.
std::string fresh_etcd_url();

}  // namespace leasehold
