// The calls of Leasehold: one interface, whether the store is opened by this process or served by another.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "leasehold/calls.h"
#include "leasehold/result.h"

namespace leasehold {

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

// Which leases to list. All set fields must match; none set: everything.
struct Listing {
  std::vector<std::string> paths;  // What these are part of, and what is below them.
  std::optional<std::string> agent_id;
  std::optional<std::string> session_id;
  std::optional<std::string> pr_id;
};

struct HistoryQuery {
  std::optional<std::string> path;
  std::optional<std::string> agent_id;
  std::optional<LeaseId> lease_id;
  std::uint64_t after = 0;        // Only events with a greater sequence.
  std::optional<WallTime> since;  // Not before this.
  std::size_t limit = 0;          // The newest so many, oldest first. 0: all.
};

// Ended by a sweep.
struct Swept {
  std::size_t ended = 0;    // Leases.
  std::size_t dropped = 0;  // Waiting requests.
};

// Every method is thread-safe. None throws. Besides its own errors each may answer unavailable (the store
// cannot be reached; nothing was written), transaction_conflict (try again), outcome_unknown (it may have
// happened; ask again under the same idempotency key) and corrupt.
//
// Paths are keys: "/src/a.ts" from the workspace's root, or "kind:name". Workspace::key (workspace.h) makes
// one of an operating system's path.
class Client {
 public:
  virtual ~Client() = default;

  // Grants, queues or refuses, and returns at once: with `wait`, a request that cannot go is Queued, and
  // poll() tells how it goes on.
  // Errors: invalid_argument, invalid_path, invalid_session, limit_exceeded, rate_limited.
  virtual Result<AcquireAnswer> acquire(const AcquireRequest& request) = 0;

  // The same, but blocks until the request is granted or refused, or its `wait` is over (code timeout, with
  // who was in the way). `cancelled` is a descriptor that becomes readable when the caller gives up (-1:
  // never); then nothing stays held or queued, and the answer is Refused with code lost.
  virtual Result<AcquireAnswer> acquire_and_wait(const AcquireRequest& request, int cancelled = -1) = 0;

  // How a queued request stands; also proves that its owner still waits. To be called every few seconds.
  // Errors: not_found, not_owner.
  virtual Result<AcquireAnswer> poll(const Caller& caller, const GroupId& ticket) = 0;

  // Gives a queued request up, and what it was granted meanwhile. Errors: not_found, not_owner.
  virtual Result<void> cancel(const Caller& caller, const GroupId& ticket) = 0;

  // Shared to exclusive, in place; may queue like acquire(). And back, which always succeeds.
  virtual Result<AcquireAnswer> upgrade(const AcquireRequest& request) = 0;
  virtual Result<Outcomes> downgrade(const ReleaseRequest& request) = 0;

  // Each lease has its own outcome: lost, transferred, stale_token, not_owner, not_found,
  // max_renewals_exceeded (renew only). A release of what is over already succeeds, with `already`.
  virtual Result<Outcomes> renew(const RenewRequest& request) = 0;
  virtual Result<Outcomes> release(const ReleaseRequest& request) = 0;
  virtual Result<Outcomes> transfer(const TransferRequest& request) = 0;

  // For operators: a reason is required, and the owner gets a notice.
  virtual Result<Outcomes> force_release(const ForceReleaseRequest& request) = 0;

  // Is this token still the current grant's? To be asked right before a protected write.
  virtual Result<CheckAnswer> check(const Caller& caller, const std::string& path, Token token) = 0;

  // The owner's turn began or stopped; 30 s after a stop its leases end. Returns how many it concerns.
  virtual Result<std::size_t> turn_started(const Owner& owner) = 0;
  virtual Result<std::size_t> turn_stopped(const Owner& owner) = 0;

  virtual Result<Board> board(const Listing& listing = {}) = 0;
  virtual Result<std::vector<Event>> history(const HistoryQuery& query) = 0;

  // Any lease, live or ended less than an hour ago. Error: not_found.
  virtual Result<Lease> lease(const LeaseId& id) = 0;

  // Records what ended. With `dead_owners`, also looks at every holder's process.
  virtual Result<Swept> sweep(bool dead_owners = false) = 0;
};

}  // namespace leasehold
