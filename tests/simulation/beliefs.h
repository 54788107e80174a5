#pragma once

#include <set>
#include <string>
#include <vector>

#include "leasehold/lease.h"

namespace leasehold::simulation {

// A client thinks that it holds a lease, until `deadline`: counted from before the call that gave it.
struct Belief {
  std::size_t client = 0;
  Owner believer;
  LeaseId lease;
  Owner owner;  // The lease's: another one's if the client acts for its whole session.
  Scope scope;
  Mode mode{};
  Token token;
  bool requested = true;
  Time since;  // What it rests on is not older than this.
  Time deadline;
  bool revoked = false;  // Wrongly so, and nobody's fault: see revoke().
};

// An owner asked for something that ends its leases, or that one, by then.
struct Cut {
  Owner owner;
  LeaseId only;  // Empty: all of them.
  Time at;
  Time deadline;
};

// What all clients believe, in one place, so that it can be compared.
//
// Several may believe in one lease, if one of them acts for its whole session. What one of them does
// to it changes what the others believe, also if they hear of the lease only later.
class Beliefs {
 public:
  // Replaces what the client believed about the same lease.
  void hold(Belief belief);

  void drop(std::size_t client, const LeaseId& lease);
  void drop_path(std::size_t client, const std::string& path);
  void drop_pairs(std::size_t client);  // What pairing added.
  void drop_all(std::size_t client);

  // The client has asked for something that leaves it a shared lease at most.
  void weaken(std::size_t client, const std::string& path);

  // The lease has another mode now.
  void change_mode(const LeaseId& lease, Mode mode);

  void cut(const Cut& cut);

  // The lease was taken away by somebody who may do so (an operator, its owner's other self), or lost
  // with all data. Its believers go on until they hear of it; fencing protects the files meanwhile.
  void revoke(const LeaseId& lease);

  std::vector<Belief> of(std::size_t client) const;
  std::vector<Belief> of_lease(const LeaseId& lease) const;
  const std::vector<Belief>& all() const { return beliefs_; }

 private:
  static void apply(const Cut& cut, Belief& belief);

  std::vector<Belief> beliefs_;
  std::set<LeaseId> revoked_;
  std::set<LeaseId> weakened_;
  std::vector<Cut> cuts_;
};

}  // namespace leasehold::simulation
