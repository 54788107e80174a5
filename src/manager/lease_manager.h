// Runs the engine's decisions as transactions on a store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/sweep.h"
#include "env/liveness.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "manager/rooms.h"
#include "store/store.h"

namespace leasehold {

// Everything the world decides for us. Outlives the manager.
struct Environment {
  LivenessProbe& liveness;
  Random& random;
};

// One lease or waiter as the board shows it.
struct BoardRow {
  Lease lease;  // A waiter's has status pending.
  Verdict verdict;
  bool live = false;  // False: it is over, and nobody recorded it yet.
};

struct Board {
  Time now;
  WallTime wall;
  std::vector<BoardRow> rows;  // By path; holders before waiters, waiters in the order they will go.
};

// All methods are thread-safe and return errors of the store besides their own: unavailable,
// transaction_conflict, outcome_unknown, corrupt.
class LeaseManager {
 public:
  LeaseManager(Environment environment, Store& store, std::string workspace, Policy policy);

  // Grants, queues or refuses; does not wait. Own errors: see engine/acquire.h, validate.h.
  Result<AcquireAnswer> acquire(const AcquireRequest& request);

  // The same, and if queued waits until the request is granted, fails, or its time is up.
  // `cancelled` (an eventfd or pipe, readable once the caller gives up; -1: none) ends the wait early
  // and gives everything back: the answer is then Refused with code lost.
  //
  // Once queued, a store that cannot be reached is asked again until the time to wait is over; only then is
  // that the answer. So is outcome_unknown, which leaves nothing behind if the store comes back.
  Result<AcquireAnswer> acquire_and_wait(const AcquireRequest& request, int cancelled = -1);

  Result<AcquireAnswer> poll(const Caller& caller, const GroupId& ticket);
  Result<void> cancel(const Caller& caller, const GroupId& ticket);

  Result<AcquireAnswer> upgrade(const AcquireRequest& request);
  Result<Outcomes> downgrade(const ReleaseRequest& request);
  Result<Outcomes> renew(const RenewRequest& request);
  Result<Outcomes> release(const ReleaseRequest& request);
  Result<Outcomes> transfer(const TransferRequest& request);
  Result<Outcomes> force_release(const ForceReleaseRequest& request);
  Result<CheckAnswer> check(const Caller& caller, const std::string& path, Token token);

  Result<std::size_t> turn_started(const Owner& owner);
  Result<std::size_t> turn_stopped(const Owner& owner);

  // Records what ended. With `dead_owners`, also looks at every holder's process.
  Result<Swept> sweep(bool dead_owners = false);

  // Forgets what ended long ago: leases and tickets after an hour, history after `history_life`.
  Result<std::size_t> forget(Duration history_life);

  // Everything, or what the paths are part of and what is below them. Own errors: invalid_path,
  // limit_exceeded.
  Result<Board> board(const std::vector<std::string>& paths = {});
  Result<std::vector<Event>> history(const HistoryQuery& query);

  Rooms& rooms() { return rooms_; }

 private:
  template <class Answer, class Begin, class Decide>
  Result<Answer> run(const Begin& begin, const Caller* caller, const Decide& decide);
  template <class Answer, class Decide>
  Result<Answer> change(const Footprint& footprint, const Caller* caller, const Decide& decide);
  template <class Answer, class Decide>
  Result<Answer> look(const Footprint& footprint, const Decide& decide, const Caller* caller = nullptr);
  // What a wait listens to.
  struct WaitOn {
    int bell = -1;
    int cancelled = -1;
    bool look_now = false;
  };
  Result<AcquireAnswer> wait_for(const Caller& caller, const GroupId& ticket, AcquireAnswer first,
                                 const WaitOn& on);
  GroupId new_group();
  // A busy room's answer, before the store is touched.
  std::optional<AcquireAnswer> refused_by_room(const AcquireRequest& request) const;
  Result<AcquireAnswer> acquire(const AcquireRequest& request, const GroupId& group);

  Environment environment_;
  Store& store_;
  const std::string workspace_;
  const Policy policy_;
  Rooms rooms_;
};

}  // namespace leasehold
