// The calls of Leasehold: one interface, whether the store is opened by this process or served by another.
// open.h gives you one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "leasehold/calls.h"
#include "leasehold/gate.h"
#include "leasehold/result.h"

namespace leasehold {

// What became of one path when its session was restored.
struct RestoredPath {
  SessionPath path;
  Result<AcquireAnswer> answer;
};

struct RestoredSession {
  std::vector<RestoredPath> paths;   // By path.
  std::vector<std::string> invalid;  // Passed over; for people.
};

// Every method is thread-safe. None throws. Besides its own errors each may answer unavailable (the store
// cannot be reached; nothing was written), transaction_conflict (try again), outcome_unknown (it may have
// happened; ask again under the same idempotency key) and corrupt. Each may block for the store's timeout;
// those that block longer say so.
//
// Paths are keys: "/src/a.ts" from the workspace's root, or "kind:name". OpenWorkspace::key (open.h) makes
// one of an operating system's path. What is returned belongs to the caller.
class Client {
 public:
  virtual ~Client() = default;

  // --- Getting and giving back ---

  // Grants, queues or refuses, and returns at once: with `wait`, a request that cannot go is Queued, and
  // poll() tells how it goes on. Granted or refused: all paths together.
  // Errors: invalid_argument, invalid_path, invalid_session, limit_exceeded, lost (the grant of this
  // idempotency key is over).
  //
  // Under the profile `session` a request that finds somebody in its way, or no store, is tried three times,
  // 100 ms apart; then the answer is Refused with busy, or the error unavailable. A session that asks too
  // often is Refused with rate_limited.
  virtual Result<AcquireAnswer> acquire(const AcquireRequest& request) = 0;

  // The same, but blocks until the request is granted or refused, or its `wait` is over (code timeout, with
  // who was in the way and how long it waited). A request that does not say how long waits for the setting
  // `wait_max`; where that is nothing, it does not wait. `cancelled` is a descriptor that becomes readable
  // when the caller gives up (-1: never); then nothing stays held or queued, and the answer is Refused with
  // code lost.
  virtual Result<AcquireAnswer> acquire_and_wait(const AcquireRequest& request, int cancelled = -1) = 0;

  // How a queued request stands; also proves that its owner still waits. To be called every few seconds.
  // Errors: not_found, not_owner.
  virtual Result<AcquireAnswer> poll(const Caller& caller, const GroupId& ticket) = 0;

  // Gives a queued request up, and what it was granted meanwhile. Errors: not_found, not_owner.
  virtual Result<void> cancel(const Caller& caller, const GroupId& ticket) = 0;

  // Shared to exclusive, in place; may queue like acquire(), with its errors and: not_found (the caller does
  // not hold it), deadlock as a refusal (two who upgrade the same would wait for each other). And back, which
  // succeeds for what is held; each lease has its own outcome, as with renew().
  virtual Result<AcquireAnswer> upgrade(const AcquireRequest& request) = 0;
  virtual Result<Outcomes> downgrade(const ReleaseRequest& request) = 0;

  // Each lease has its own outcome: lost, transferred, stale_token, not_owner, not_found,
  // max_renewals_exceeded (renew only). A release of what is over already succeeds, with `already`.
  // With which.all, renew() is one batch: one transaction, one line of history.
  // Errors of the call as a whole: invalid_argument (no leases named, or in two ways; a TTL of nothing),
  // invalid_path, limit_exceeded (too many named), invalid_session (transfer: of the new owner).
  virtual Result<Outcomes> renew(const RenewRequest& request) = 0;
  virtual Result<Outcomes> release(const ReleaseRequest& request) = 0;
  virtual Result<Outcomes> transfer(const TransferRequest& request) = 0;

  // For operators: a reason is required, and the owner gets a notice. which.agent_id: all that an agent has.
  // Errors: invalid_argument.
  virtual Result<Outcomes> force_release(const ForceReleaseRequest& request) = 0;

  // Is this token still the current grant's? To be asked right before a protected write. What became of it is
  // in the answer. Errors: invalid_argument, invalid_path, invalid_session.
  virtual Result<CheckAnswer> check(const Caller& caller, const std::string& path, Token token) = 0;

  // The owner's turn began or stopped; 30 s after a stop its leases end. What hangs on no process yet hangs
  // on that of whose turn begins; what another live process holds is none of this. Returns how many it
  // concerns.
  virtual Result<std::size_t> turn_started(const Holder& holder) = 0;
  virtual Result<std::size_t> turn_stopped(const Holder& holder) = 0;

  // The owner is gone for good: gives back all its session has and waits for, and forgets what the gate
  // remembers of it. Outcomes and errors are release()'s.
  virtual Result<Outcomes> end_session(const Caller& caller) = 0;

  // What a session got and did not give back, as far as that is remembered: under the profile `session`.
  // Errors: invalid_session.
  virtual Result<SessionPaths> session_paths(const std::string& session_id) = 0;

  // Asks again for all of that, each path by itself and as acquire() would: for a session that comes back.
  // `as` is the request but for its paths and mode; its owner's session is the one.
  Result<RestoredSession> restore_session(AcquireRequest as);

  // --- At the gate (gate.h) ---

  // May these be written now? Grants what is free, as acquire() does.
  // Errors: invalid_argument, invalid_path, invalid_session, limit_exceeded.
  virtual Result<GateAnswer> gate(const GateRequest& request) = 0;

  // The same, but when denied it waits: for the moment of the retry, and once halted for an instruction; in
  // all no longer than `at_most`, or until `cancelled` becomes readable. `denied` is called with each denial
  // of another kind before it waits. Blocks.
  virtual Result<GateAnswer> gate_and_wait(const GateRequest& request, Duration at_most,
                                           const std::function<void(const GateAnswer&)>& denied = {},
                                           int cancelled = -1) = 0;

  // For operators: who is halted, and what they are to do. Errors: not_found, invalid_argument,
  // limit_exceeded (the worker's).
  virtual Result<Blockers> blockers() = 0;
  virtual Result<Contention> instruct(const InstructRequest& request) = 0;

  // --- Looking ---

  // Any lease, live or ended less than an hour ago, as it is recorded: that its time is over is recorded when
  // somebody looks (sweep(), any acquire). Whether it counts now: board(), check(). Error: not_found,
  // invalid_argument.
  virtual Result<Lease> lease(const LeaseId& id) = 0;

  // Who holds and who waits. Errors: invalid_path, limit_exceeded.
  virtual Result<Board> board(const Listing& listing = {}) = 0;

  // The live leases among them, and nothing else:
  //   leases({.paths = {"/src/a.ts"}}), leases({.agent_id = "ann"}), leases({.session_id = "s1"}),
  //   leases({.pr_id = "42"}), leases() for all.
  Result<std::vector<Lease>> leases(const Listing& listing = {});

  // Whether anybody holds the path, or a directory above it, now; and whether this agent does.
  Result<bool> is_locked(const std::string& path);
  Result<bool> agent_has_lease(const std::string& agent_id, const std::string& path);

  // Oldest first. Error: invalid_path.
  virtual Result<std::vector<Event>> history(const HistoryQuery& query) = 0;

  // What happened after the event with sequence `after` (0: since the beginning of history), in order, at
  // most 1,000 at a time: whichever process did it. With nothing to tell, blocks until there is something,
  // `wait` is over or `cancelled` becomes readable; then the answer is empty. Ask again with the last one's
  // sequence.
  //
  // latest_event() is where to begin for what happens from now on. With `keep_history` off there are none.
  // History is kept for its retention: whoever asks for older events gets those that are left. Sequences
  // rise, but need not be consecutive, so they do not show whether anything is missing.
  virtual Result<std::vector<Event>> events(std::uint64_t after, Duration wait = {}, int cancelled = -1) = 0;
  Result<std::uint64_t> latest_event();

  // --- Upkeep ---

  // Records what ended. With `dead_owners`, also looks at every holder's process. Nothing depends on it being
  // done in time: what is over is in nobody's way.
  virtual Result<Swept> sweep(bool dead_owners = false) = 0;

  // sweep(true), and forgets what nobody needs any more: ended leases after an hour, history after its
  // retention.
  virtual Result<Swept> cleanup() = 0;

  // The configuration that the store keeps. Processes that run see a change within some seconds.
  // put: replaces the one with the same key, scope and resource. erase: nothing happens if there is none.
  // Errors: invalid_argument (a value that is not of the type, a known key with a value it cannot have).
  virtual Result<std::vector<Setting>> settings() = 0;
  virtual Result<void> put_setting(const Setting& setting) = 0;
  virtual Result<void> erase_setting(const std::string& stored_key) = 0;
};

}  // namespace leasehold
