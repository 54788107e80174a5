// What can be asked of Leasehold, and what it answers.
//
// A refusal is an answer, not an error: it says who is in the way. Errors (Result) are for calls
// that could not be decided at all: bad arguments, an unreachable store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "leasehold/error.h"
#include "leasehold/lease.h"

namespace leasehold {

// Who asks. With `whole_session`, every lease of the same session counts as the caller's own: for
// callers that cannot see which subagent they act for (the command line, git hooks).
struct Caller {
  Holder holder;
  bool whole_session = false;

  bool operator==(const Caller&) const = default;
};

// One path of a request. Pairing adds paths with `requested = false` and says for which source.
struct WantedPath {
  std::string path;
  bool subtree = false;
  bool requested = true;
  std::vector<std::string> paired_with;
  std::string rule;  // Name of the pair rule that added it.

  Scope scope() const { return {path, subtree}; }
  bool operator==(const WantedPath&) const = default;
};

struct AcquireRequest {
  Caller caller;
  std::vector<WantedPath> paths;
  Mode mode = Mode::exclusive;
  std::optional<Duration> ttl;      // Nothing: the profile's. Above the cap: clamped.
  std::optional<int> max_renewals;  // Nothing: the profile's.
  std::optional<Duration> wait;     // Nothing: do not queue.
  // The process that waits, where the lease will hang on another: its death ends the wait.
  std::optional<Process> waiter;
  int priority = 0;       // -10..10; each step counts as 10 s of waiting.
  bool attended = false;  // The caller's turn is open (agent hooks say so).
  std::string reason;
  std::string room;
  std::string trace;
  std::string idempotency_key;

  bool operator==(const AcquireRequest&) const = default;
};

// Evidence: one obstacle on one wanted path.
struct Blocked {
  std::string path;    // What was wanted.
  bool waits = false;  // True: somebody ahead in the queue; false: a holder.
  Holder holder;
  std::string held_path;  // What is in the way: the same path, or a subtree above or below.
  bool subtree = false;
  Mode mode{};
  LeaseId lease_id;  // Empty for a waiter.
  std::string reason;
  Time acquired_at;  // For a waiter: since when it waits.
  Time last_heartbeat_at;
  Time expires_at;
  Verdict verdict;
  std::size_t waiters_ahead = 0;  // On this path, before the caller.

  bool operator==(const Blocked&) const = default;
};

struct Granted {
  GroupId group_id;
  std::vector<Lease> leases;  // In the order of the request's paths.
  bool ttl_clamped = false;
  bool replayed = false;  // The idempotency key was used before: this is that grant.
  Duration waited{};      // In the queue, by the store's clock.
};

struct Queued {
  GroupId ticket;
  std::size_t position = 0;  // 1: next.
  Time at;                   // Store time of this answer; the times below compare with it.
  Time wait_until;
  std::vector<Blocked> blocked;  // For each path ten at most, holders before waiters if there are more.
  std::size_t more_blocked = 0;  // So many others are in the way, too.
  bool replayed = false;         // The idempotency key was used before: it waits since then.
};

struct Refused {
  Code code{};
  std::string message;
  std::vector<Blocked> blocked;
  Duration waited{};                    // In the queue, before it ended in vain.
  std::optional<Duration> retry_after;  // rate_limited: until the session may ask again.
  std::string next_command;             // With somebody in the way: what to type to wait for it.
  std::size_t more_blocked = 0;         // So many others are in the way, too, as in Queued.
};

using Decision = std::variant<Granted, Queued, Refused>;

struct AcquireAnswer {
  Decision decision;
  std::vector<Notice> notices;
};

// Which of the caller's leases a call is about. Exactly one way of naming them.
struct Selection {
  std::vector<LeaseId> ids;
  std::vector<std::string> paths;
  bool all = false;
  std::optional<std::string> pr_id;
  std::optional<std::string> session_id;
  std::optional<std::string> agent_id;
};

// What became of one lease in a call about several. The rest of the call goes on.
struct Outcome {
  std::string path;
  std::optional<Lease> lease;  // As it is now; nothing if it never was.
  std::optional<Error> error;  // Nothing: done.
  bool already = false;        // It had ended before; there was nothing left to do.
  bool ttl_clamped = false;
};

struct Outcomes {
  std::vector<Outcome> outcomes;
  std::vector<Notice> notices;
};

struct ReleaseRequest {
  Caller caller;
  Selection which;
  std::optional<Token> token;  // Given: must be the current grant's.
};

struct RenewRequest {
  Caller caller;
  Selection which;
  std::optional<Token> token;
  std::optional<Duration> ttl;  // Nothing: as long as before.
};

struct TransferRequest {
  Caller caller;
  Selection which;
  Holder to;
  std::string note;
  bool as_operator = false;  // May move other owners' leases.
  bool attended = false;     // The receiver's turn is open; counts within a session (agent hooks say so).
};

struct ForceReleaseRequest {
  std::string actor;  // The operator.
  Selection which;    // Other owners' leases: `all` means everybody's.
  std::string reason;
  std::optional<Duration> recall;  // Given: ask the owner first, and end the lease after this long.
};

struct CheckAnswer {
  bool current = false;        // The token is that of a live lease that covers the path.
  std::optional<Error> error;  // Why not: stale_token, lost, transferred, not_found.
  std::vector<Lease> holders;  // Who covers the path now.
  std::vector<Notice> notices;
};

// Which leases to list. All set fields must match; none set: everything.
struct Listing {
  std::vector<std::string> paths;  // What these are part of, and what is below them.
  std::optional<std::string> agent_id;
  std::optional<std::string> session_id;
  std::optional<std::string> pr_id;
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

// All set fields must match.
struct HistoryQuery {
  std::optional<std::string> path;
  std::optional<std::string> agent_id;
  std::optional<LeaseId> lease_id;
  std::uint64_t after = 0;        // Only events with a greater sequence.
  std::optional<WallTime> since;  // Not before this.
  std::size_t limit = 0;          // The newest so many, oldest first. 0: all.
  bool oldest = false;            // With a limit: the oldest so many instead. For reading on page by page.
};

// One path that a session got and did not give back (profile `session`). The end of the lease does not
// matter.
struct SessionPath {
  std::string session_id;
  std::string path;
  bool subtree = false;
  Mode mode = Mode::exclusive;
  std::optional<WallTime> drop_at;  // Not remembered after this; nothing: until it is given back.

  Scope scope() const { return {path, subtree}; }
  bool operator==(const SessionPath&) const = default;
};

struct SessionPaths {
  std::vector<SessionPath> paths;    // By path.
  std::vector<std::string> invalid;  // What stands there and is no such path; for people.
};

// Something in a store that is not as it should be.
struct Defect {
  std::string where;  // A key of Redis, a table of SQLite.
  std::string what;   // For people: what is wrong, and what became of it.
  bool repaired = false;
};

// What a sweep or a cleanup did.
struct Swept {
  std::size_t ended = 0;      // Leases recorded as over.
  std::size_t dropped = 0;    // Waiting requests recorded as gone.
  std::size_t forgotten = 0;  // Records nobody needs any more; only cleanup() forgets.
};

// One line of the configuration that a store keeps and that can change while everything runs. docs/library.md
// lists the keys that mean something.
struct Setting {
  std::string key;
  std::string scope = "global";  // global, or profile: for those who use the profile `resource`.
  std::string resource;          // Empty in scope global.
  std::string value;
  std::string type = "string";  // int, float, bool, string or json.
  std::string description;
  bool requires_restart = false;  // A process that runs already goes on with what it knew.
  WallTime updated_at;            // Given by the store.

  // The key it is stored under: default_ttl_seconds, or default_ttl_seconds@profile:job.
  std::string stored_key() const { return scope == "global" ? key : key + "@" + scope + ":" + resource; }

  bool operator==(const Setting&) const = default;
};

}  // namespace leasehold
