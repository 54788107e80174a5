// How it is found out whether a commit was made whose answer was lost.
//
// Every commit has the condition that a key of its own process is as it was. If the answer is lost, that key
// is written on the same condition, and if what the commit would leave is not there: either that succeeds,
// and then the commit will never be made, or it is there, and then it was. What a commit leaves is its first
// event of history; one without any writes its name into the key. The key is written anew every few seconds
// all the same: it is attached to a lease of etcd's that ends soon, so a commit that was delayed for longer
// (in a member that was stopped) fails.
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
  std::string event;              // The key of its first event; empty: its name is written instead.
  std::int64_t lease = 0;         // Of etcd's.
  std::chrono::steady_clock::time_point written;
};

// Thread-safe.
class Requests {
 public:
  Requests(const Cluster& cluster, LeasePool& leases) : cluster_(cluster), leases_(leases) {}

  // A slot nobody else uses, for one commit. Throws Failure.
  RequestSlot take();
  void give_back(RequestSlot slot);

  // The revision of the commit; 0: it was not made and never will be. Throws Failure: outcome_unknown.
  std::int64_t made_at(RequestSlot& slot) const;

 private:
  const Cluster& cluster_;
  LeasePool& leases_;
  std::mutex mutex_;    // Guards what follows.
  std::string client_;  // Nobody else's name.
  std::uint64_t slots_ = 0;
  std::uint64_t requests_ = 0;
  std::vector<RequestSlot> idle_;
};

// Whether the commit under way, which writes this event first, writes its name as well.
bool needs_name(RequestSlot& slot, std::string event);
pb::Compare unchanged(const RequestSlot& slot);
pb::RequestOp write_name(const RequestSlot& slot, const std::string& name);
pb::RequestOp read_back(const std::string& key);

}  // namespace leasehold::etcd
