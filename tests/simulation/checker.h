// Checks the invariants of the simulation (docs: I1 to I20) against the rules of its own, after every
// commit, every answer and every step. It sees what is stored, what is written to history, what is
// answered, and what clients believe; it calls nothing of the engine.
//
//   I1  no two live leases conflict                    I10  a request gets all or nothing
//   I2  nor do any two that clients believe in         I11  no cycle of waiters
//   I3  no write is accepted after a newer owner's     I12  nobody waits who could go; every grant rings
//   I4  tokens rise                                    I13  nobody passes one who is ahead in the queue
//   I5  one grant for each idempotency key             I14  the dead do not keep anybody waiting
//   I6  no lease ends before its time                  I15  a handover leaves no gap
//   I7  what a dead owner held can be had at once      I16  the wall clock decides nothing (simulation.cc)
//   I8  what is renewed or granted is live             I20  the history tells what is
//   I9  nobody releases what is not its own
//
// And of the gate (docs/gate.md) and the limits:
//
//   G1  only who holds a file may write it             G4  what it remembers goes when it may, not before
//   G2  one retry, at a moment that never moves        L1  nobody asks for more than the limit of leases
//   G3  halted is halted, until somebody instructs
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "leasehold/calls.h"
#include "leasehold/gate.h"
#include "leasehold/result.h"
#include "simulation/beliefs.h"
#include "simulation/fold.h"
#include "simulation/recording_store.h"
#include "simulation/rules.h"

namespace leasehold::simulation {

// What is being asked for while commits are made.
struct Call {
  enum class Kind {
    acquire,
    poll,
    cancel,
    release,
    renew,
    downgrade,
    transfer,
    force,
    turn,
    sweep,
    check,
    gate,
    instruct,
    end_session
  };

  Kind kind{};
  Caller caller;  // Empty for an operator's call, or the sweeper's.
  AcquireRequest request;
  bool upgrade = false;
  Selection which;
  std::optional<Token> token;
  Owner to;
  bool as_operator = false;
  GroupId ticket;
  bool read = false;       // At the gate.
  std::string contention;  // The one to instruct about.
  Instruction instruction{};
};

struct Violation {
  std::string invariant;
  std::string text;
};

class Checker {
 public:
  // `acting_sessions` are those with a member that acts for all of them. `sees_steadily`: what was
  // seen dead or alive stays so; otherwise who seemed gone may come back and close a cycle.
  Checker(Rules& rules, Beliefs& beliefs, std::set<std::string> acting_sessions, bool sees_steadily)
      : rules_(rules),
        beliefs_(beliefs),
        acting_sessions_(std::move(acting_sessions)),
        sees_steadily_(sees_steadily) {}

  // Around each call. Calls may nest.
  void begin(const Call& call);
  void end();

  void committed(const Commit& commit, View& view);

  void answered(const Call& call, const Result<AcquireAnswer>& answer);
  void renewed(const Call& call, const Result<Outcomes>& answer);
  void checked(const std::string& path, Token token, const Result<CheckAnswer>& answer);
  void gated(const Call& call, const Result<GateAnswer>& answer);
  void instructed(const Call& call, const Result<Contention>& answer);

  // A write reached the file, because check() had let it through.
  void written(const Owner& owner, const std::string& path, Token token);

  // After each step.
  void check_beliefs();

  // All data are gone. Nothing is owed any more but that tokens rise.
  void data_lost();

  // Nothing may be left, of anything, once everybody has finished.
  void check_finished();

  // For what is checked elsewhere. Only the first one counts.
  void fail(std::string invariant, std::string text);

  const std::optional<Violation>& violation() const { return violation_; }
  const Snapshot& snapshot() const { return now_; }

 private:
  // One request that was granted in a commit.
  struct Grant {
    Contender who;
    GroupId group;
  };

  void check_events(const Commit& commit);
  void check_end(const Event& event);
  void check_failure(const Event& event);
  void check_tokens(const Commit& commit);
  void check_exclusion(const Snapshot& after);
  void check_extensions(const Snapshot& after);
  void check_handover(const Commit& commit, const Snapshot& after);
  void check_queue(const Snapshot& after);
  void check_limit(const Snapshot& after);
  std::size_t count_leases(const Owner& owner, const Snapshot& snapshot, const Snapshot& other) const;
  void check_grants(const Commit& commit, const Snapshot& after, View& view);
  std::vector<Grant> grants_of_tickets(const Snapshot& after, View& view) const;
  std::optional<GroupId> group_of_call(const Commit& commit, const std::vector<Grant>& by_ticket);
  AcquireRequest without_abandoned(AcquireRequest request) const;
  void check_complete(const Grant& grant, const Snapshot& after);
  void check_order(const Grant& grant, const Commit& commit, const Snapshot& after);
  void check_key(const Grant& grant);
  void check_granted(const Call& call, const Granted& granted);
  AcquireRequest as_held(const Call& call) const;

  void check_contentions(const Snapshot& after);
  void check_new(const Contention& contention);
  void check_change(const Contention& before, const Contention& after);
  void check_gone(const Contention& contention, const Snapshot& after);
  void check_denied(const Call& call, const Denied& denied);
  void check_readable(const Call& call, bool allowed);
  bool is_contended(const Caller& caller, const Scope& scope) const;
  bool is_asked_for(const Contention& contention, Call::Kind kind) const;
  bool may_look(const Contention& contention) const;
  bool same_party(const Owner& a, const Owner& b) const;
  const Call* call() const { return calls_.empty() ? nullptr : &calls_.back().call; }

  Rules& rules_;
  Beliefs& beliefs_;
  const std::set<std::string> acting_sessions_;
  const bool sees_steadily_;
  std::optional<Violation> violation_;

  struct Begun {
    Call call;
    std::set<GroupId> waiting;            // When it began.
    std::optional<Ticket> asks_again_of;  // It waits under the same key.
    std::vector<Contention> contentions;  // When it began.
  };
  std::vector<Begun> calls_;
  Snapshot now_;  // As of the last commit.
  Fold fold_;
  Token highest_;
  std::map<std::pair<Owner, std::string>, GroupId> granted_keys_;

  struct Write {
    Owner owner;
    Token token;
  };
  std::map<std::string, std::vector<Write>> writes_;  // By path: the highest of each owner.
};

}  // namespace leasehold::simulation
