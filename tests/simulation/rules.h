// The rules of DESIGN sections 3 and 4 once more, as plainly as they can be written: for the
// checker, which must not ask the engine whether the engine is right.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/policy.h"
#include "leasehold/gate.h"
#include "simulation/processes.h"
#include "store/records.h"
#include "support/manual_clock.h"

namespace leasehold::simulation {

// What a store holds: active leases and pending tickets, recorded as over or not; and what the gate
// remembers.
struct Snapshot {
  std::vector<Lease> leases;
  std::vector<Ticket> tickets;
  std::vector<Contention> contentions;

  const Lease* find(const LeaseId& id) const;
  const Ticket* find(const GroupId& id) const;
  const Contention* find(const std::string& contention) const;
};

bool overlap(const Scope& a, const Scope& b);
bool contains(const Scope& outer, const Scope& inner);
bool clash(Mode a, Mode b);
bool is_enough(Mode held, Mode wanted);

// A request with its place in the queue.
struct Contender {
  const AcquireRequest* request = nullptr;
  bool upgrade = false;
  Time order;
  Token sequence{UINT64_MAX};  // Behind its equals, until it has one.
  GroupId ticket;              // Empty: it does not wait (yet).
};

bool is_mine(const Caller& caller, const Owner& owner);

// Judges records by the time and the processes there really are.
class Rules {
 public:
  Rules(const Policy& policy, const ManualClock& clock, const Processes& processes)
      : policy_(policy), clock_(clock), processes_(processes) {}

  // Who asks is alive, whatever the probe says.
  void set_asking(const std::optional<Process>& process) { asking_ = process; }

  // none: it is live.
  EndCause over(const Lease& lease) const;
  EndCause over(const Ticket& ticket) const;
  bool is_live(const Lease& lease) const { return over(lease) == EndCause::none; }
  bool is_live(const Ticket& ticket) const { return over(ticket) == EndCause::none; }

  // Which records count: those that are live, or all, as long as nobody has looked whether they are.
  enum class Counting { live, recorded };

  // A request that arrives now, and one that waits: an upgrade by the shared leases that count.
  Contender contender(const AcquireRequest& request, const Snapshot& snapshot) const;
  Contender contender(const Ticket& ticket, const Snapshot& snapshot,
                      Counting counting = Counting::live) const;

  // Who is in the way of a request. Empty: it can be granted. What is its own counts as `own` says; who is an
  // upgrade is seen in `ranks`, if that is another snapshot.
  std::vector<Owner> obstacles(const Snapshot& snapshot, const Contender& contender, Counting counting,
                               Counting own = Counting::live, const Snapshot* ranks = nullptr) const;

  // Nobody is recorded to be in the way of one who waits, whether or not anybody has looked who is an upgrade
  // by now.
  bool could_go(const Snapshot& snapshot, const Ticket& ticket) const;

  // The owners of a cycle of live waiters, or nothing. What they hold they are not waiting for, until
  // it is recorded as over: before that, nobody has looked. Nor has anybody who lost its place by that.
  std::vector<Owner> find_cycle(const Snapshot& snapshot) const;

  // The request, had it to wait, would close a cycle, if one looks or if one does not.
  bool would_close_cycle(Snapshot snapshot, const Contender& asking) const;

  const Policy& policy() const { return policy_; }
  Time now() const { return clock_.now(); }

 private:
  Liveness state_of(const Holder& holder) const;
  std::vector<Owner> obstacles(const Snapshot& snapshot, const Contender& contender, Counting counting,
                               Counting own, const Snapshot& ranks, Counting ranked_by) const;

  // Who waits for whom: surely, or as soon as somebody looks. A session whose members act for one another
  // counts as one, if told so.
  enum class Sureness { sure, possible };
  using Edges = std::map<Owner, std::set<Owner>>;
  Edges edges(const Snapshot& snapshot, Sureness sureness, bool by_session) const;
  std::set<Owner> obstacles(const Snapshot& snapshot, const Ticket& ticket, Sureness sureness) const;
  bool is_upgrade(const AcquireRequest& request, const Snapshot& snapshot, Counting counting) const;
  bool holds(const Snapshot& snapshot, const AcquireRequest& request, const Scope& scope,
             Counting counting) const;

  const Policy& policy_;
  const ManualClock& clock_;
  const Processes& processes_;
  std::optional<Process> asking_;
};

}  // namespace leasehold::simulation
