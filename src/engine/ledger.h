// The only way the engine writes leases and tickets. A record and its line of history are written by one
// call, so the history folded is the state (invariant I20) by construction; and each call that takes
// something away notes what became free, so no waiter can be forgotten. (Notices are written and handed over
// here, too; answers under idempotency keys are idempotency.h's.)
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/ownership.h"
#include "store/store.h"

namespace leasehold {

// Who ended or moved a lease, and why. Empty actor: its owner, or time.
struct Because {
  std::string actor;
  std::string reason;
};

class Ledger {
 public:
  Ledger(Transaction& transaction, const Context& context) : transaction_(transaction), context_(context) {}

  Transaction& transaction() { return transaction_; }
  const Context& context() const { return context_; }
  Time now() const { return transaction_.now(); }

  // A lease for one wanted path: complete but for token and status, not written yet.
  Lease draft(const std::string& workspace, const AcquireRequest& request, const WantedPath& wanted,
              const GroupId& group) const;

  // pending or nothing -> active. The lease comes complete but for its times of acquisition.
  void activate(Lease& lease, const std::string& reason);

  // nothing -> pending, for every path of the ticket.
  void enqueue(Ticket& ticket);

  // active -> active, with the new times in place. `proof_of_life`, `acquired again`, ...
  void extend(Lease& lease, const std::string& reason);

  // One line for a batch of renewals of one owner, of which nothing but the terms is new.
  void extend_all(const Owner& owner, const std::vector<Lease*>& leases);

  // A renewal that was refused: a line of history, and no change.
  void refuse_renewal(const Lease& lease, const std::string& reason);

  // A change that is no transition and has no line of history: whether a turn is open, what is paired.
  void amend(Lease& lease);

  // In place. An upgrade has its new token already.
  void change_mode(Lease& lease, Mode mode, const Because& because = {});

  // Asks the lease back by `deadline`, and tells its owner.
  void recall(Lease& lease, Time deadline, const Because& because);

  // nothing -> active, handed over by another owner; tells the new one.
  void receive(Lease& lease, const Because& because);

  // The same for one who held the path already: its lease has its new token, and now `mode`.
  void receive_more(Lease& held, Mode mode, const Because& because);

  // active -> released or expired, as the cause says; tells the owner if it was not its own doing.
  void end(Lease lease, EndCause cause, const Because& because = {});

  // pending -> failed, for the ticket and its leases.
  void fail(Ticket ticket, EndCause cause, const Because& because = {});

  // The waiter was heard of, or seen: it counts for another while. So does a lease past its time whose owner
  // attends.
  void prove_life(Ticket& ticket);
  void prove_life(Lease& lease);

  // The same, and it is another process of the same owner that waits from now on.
  void adopt(Ticket& ticket, const Holder& holder, const std::optional<Process>& waiter);

  // pending -> active, for the ticket; its leases are activated by whoever grants them. Rings.
  void grant(Ticket ticket, std::vector<LeaseId> leases, Token token);
  // Those that were.
  const std::vector<Ticket>& granted() const { return granted_; }

  // A cycle was found, or a wait that stood already was searched for one: what is decided from here on rests
  // on who waits for whom. (That one who comes to wait closes none is not noted: nothing changes by it.)
  void note_search() { searched_ = true; }
  bool has_searched() const { return searched_; }

  // A pending lease that the grant did not need.
  void drop_pending(Lease lease);

  // Those who wait for any of these paths, this request among them, get looked at.
  void free(const AcquireRequest& request);
  void free(const Scope& scope) { freed_.push_back(scope); }

  // Has anything of the caller's ended, or become shared, in this transaction?
  template <class Who>  // A caller, or somebody in line.
  bool took_from(const Who& who) const {
    return std::ranges::any_of(losers_, [&](const Owner& owner) { return owns(who, owner); });
  }

  // Scopes in which something ended since the last call.
  std::vector<Scope> take_freed() { return std::exchange(freed_, {}); }

 private:
  Event event_of(const Lease& lease, EventType type) const;
  void write(Lease& lease, EventType type, std::optional<Status> before, const Because& because);
  void append(Event event);
  Time moment_of(const Lease& lease, EndCause cause) const;
  void notify(const Lease& lease, EndCause cause, bool received, const Because& because);

  Transaction& transaction_;
  const Context& context_;
  std::vector<Scope> freed_;
  std::set<Owner> losers_;
  std::vector<Ticket> granted_;
  bool searched_ = false;
};

// Whoever acts for its own lease or ticket is the process to watch from now on. A caller that cannot say
// which process it is changes nothing.
void take_process(Holder& holder, const Holder& caller);

// The same for a lease that is asked for again, or whose owner's turn begins. A process that is seen to live
// keeps it, or the end of another of its owner's would end it; and what hangs on no process goes on to,
// unless its owner is at work (`attended`): that is how an agent gets hold of what was handed to it.
void succeed_process(Lease& lease, const Holder& caller, bool attended, const Context& context);

// What happened to the owner behind its back; with `is_meant` only those. It stays to be told.
std::vector<Notice> show_notices(View& view, const Owner& owner,
                                 const std::function<bool(const Notice&)>& is_meant = {});

// Hands it over, at most once.
std::vector<Notice> take_notices(Transaction& transaction, const Owner& owner,
                                 const std::function<bool(const Notice&)>& is_meant = {});

}  // namespace leasehold
