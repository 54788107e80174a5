// How it is found out whether a commit was made whose answer was lost.
//
// Every commit also writes its name into a key of its own process, provided that nobody wrote there since the
// last one. If the answer is lost, the same key is written once more on the same condition: either that
// succeeds, and then the commit will never be made, or the key has the commit's name, and then it was. The
// key is attached to a lease of etcd's that ends soon: a commit that was delayed for longer (in a member that
// was stopped) fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "store/etcd/cluster.h"
#include "store/etcd/lease_pool.h"

namespace leasehold::etcd {

// So long a commit may be under way.
inline constexpr std::chrono::seconds kRequestLife{20};
inline constexpr std::chrono::seconds kRequestSlack{10};

struct RequestSlot {
  std::string key;
  std::int64_t mod_revision = 0;  // 0: it does not exist.
  std::string request;            // The name of the commit under way.
  std::int64_t lease = 0;         // Of etcd's.
  std::chrono::steady_clock::time_point used;
};

// Thread-safe.
class Requests {
 public:
  Requests(const Cluster& cluster, LeasePool& leases) : cluster_(cluster), leases_(leases) {}

  // A slot nobody else uses, for one commit. Throws Failure.
  RequestSlot take();
  void give_back(RequestSlot slot);

  // True: the commit was made. False: it never will be. Throws Failure: outcome_unknown.
  bool was_made(RequestSlot& slot) const;

 private:
  const Cluster& cluster_;
  LeasePool& leases_;
  std::mutex mutex_;    // Guards what follows.
  std::string client_;  // Nobody else's name.
  std::uint64_t slots_ = 0;
  std::uint64_t requests_ = 0;
  std::vector<RequestSlot> idle_;
};

pb::Compare unchanged(const RequestSlot& slot);
pb::RequestOp write_name(const RequestSlot& slot, const std::string& name);
pb::RequestOp read_back(const RequestSlot& slot);

}  // namespace leasehold::etcd
