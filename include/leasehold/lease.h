// The nouns of Leasehold. docs/glossary.md defines each word.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

// A moment on the store's own time line (Transaction::now). Its zero means nothing outside that
// store; agents' clocks never decide.
struct StoreTimeline {};
using Time = std::chrono::time_point<StoreTimeline, std::chrono::nanoseconds>;
inline constexpr Time kForever = Time::max();

// Wall time: shown to people, never compared by a decision.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

using Duration = std::chrono::milliseconds;

// `then` on people's clocks, given that the store says `now` and the wall says `wall` at one moment.
inline WallTime wall_time(Time then, Time now, WallTime wall) {
  return wall + std::chrono::duration_cast<std::chrono::microseconds>(then - now);
}

// Ids are UUIDs as text. The tag keeps a lease's id from being taken for a group's.
template <class Tag>
struct Id {
  std::string text;

  auto operator<=>(const Id&) const = default;
};
using LeaseId = Id<struct LeaseTag>;
// One acquire: the label of its grant, and its ticket while it waits.
using GroupId = Id<struct GroupTag>;

// Fencing token. Strictly greater than that of every earlier grant on an overlapping path, and
// below 2^53 so that JSON carries it.
struct Token {
  std::uint64_t value = 0;

  auto operator<=>(const Token&) const = default;
};

// Who a lease belongs to. Anybody who differs in either part is somebody else.
struct Owner {
  std::string agent_id;
  std::string session_id;

  auto operator<=>(const Owner&) const = default;
};

// A process that cannot be mistaken for another one: a pid alone is reused.
struct Process {
  std::string machine_id;
  std::string boot_id;
  std::uint64_t pid_namespace = 0;
  std::int64_t pid = 0;
  std::uint64_t start_time = 0;  // Clock ticks since boot, as in /proc/PID/stat.

  auto operator<=>(const Process&) const = default;
};

struct Holder {
  Owner owner;
  std::string pr_id;
  std::string host;
  std::optional<Process> process;  // Whose death ends the lease; none: only its time does.

  bool operator==(const Holder&) const = default;
};

enum class Mode { shared, exclusive };

// What a lease covers: one path, or with `subtree` a directory and all below it, now and later.
struct Scope {
  std::string path;
  bool subtree = false;

  auto operator<=>(const Scope&) const = default;
};

enum class Status { pending, active, released, expired, failed };

// Why a lease or a ticket is not live any more.
enum class EndCause {
  none,         // It is.
  released,     // By its owner.
  expired,      // Its time ran out.
  silent,       // Nobody says that its owner is dead, but it was not heard of for too long.
  idle,         // Its owner's turn had stopped.
  owner_dead,   // Its owner's process is proven dead.
  recalled,     // It was asked back and not given by then.
  forced,       // An operator ended it.
  transferred,  // It went to another owner.
  timed_out,    // Waited as long as asked for.
  cancelled,    // The waiter gave up.
  deadlock,     // Its wait closed a cycle.
  merged,       // The owner got the same path by another request meanwhile.
};

// One owner's right to one path.
struct Lease {
  LeaseId id;
  std::string workspace;
  std::string path;
  bool subtree = false;
  Mode mode = Mode::exclusive;
  Holder holder;
  Token token;
  Status status = Status::active;
  EndCause ended_by = EndCause::none;

  Time created_at;
  Time acquired_at;
  Time expires_at;
  Time last_heartbeat_at;
  Time updated_at;
  Duration ttl{};
  int renewal_count = 0;
  int max_renewals = -1;  // -1: no limit.

  GroupId group_id;
  std::string room;
  std::string reason;
  std::string trace;

  // False for a path that only pairing added; then it ends with the last of its sources.
  bool requested = true;
  std::vector<std::string> paired_with;  // Paths of the sources that brought it in.
  std::vector<std::string> pairs;        // Paths that pairing added for this one.
  std::string rule;                      // Name of the pair rule that added it first; else empty.

  bool attended = false;            // The owner's turn is open.
  std::optional<Time> idle_at;      // Ends then, unless the owner becomes active again.
  std::optional<Time> recalled_at;  // Ends then, come what may.

  Scope scope() const { return {path, subtree}; }
  bool operator==(const Lease&) const = default;
};

enum class EventType {
  queued,      // -> pending
  acquired,    // -> active
  renewed,     // active -> active
  upgraded,    // shared -> exclusive, in place
  downgraded,  // exclusive -> shared, in place
  recalled,    // Asked back; still active.
  released,    // active -> released
  expired,     // active -> expired
  failed,      // pending -> failed, or a refused renewal (no change of status)

  // The gate's; no lease changes. The owner is the worker that was denied.
  contended,   // Denied once; the retry is scheduled.
  halted,      // Denied at the retry: a blocker.
  instructed,  // An operator said what to do about it.
};

// One line of history. Every change of a lease writes exactly one, in the same transaction.
struct Event {
  std::uint64_t sequence = 0;  // Given by the store; rises.
  EventType type{};
  LeaseId lease_id;  // Empty for a batch renewal, and for the gate's events.
  GroupId group_id;
  Owner owner;
  std::string pr_id;
  std::string path;  // Empty for a batch renewal.
  bool subtree = false;
  Mode mode{};
  Token token;
  std::optional<Status> status_before;
  std::optional<Status> status_after;
  EndCause cause = EndCause::none;
  int renewal_count = 0;
  std::size_t count = 1;  // Leases covered: more than one only for a batch renewal.
  Time at;
  WallTime wall;
  std::string actor;   // Who did it, when that was not the owner.
  std::string reason;  // For people.
  std::string trace;

  bool operator==(const Event&) const = default;
};

// What happened to an owner's lease behind its back; handed over with the answer to its next call.
struct Notice {
  std::string id;
  Owner owner;
  EndCause cause{};
  bool received = false;  // The lease came to this owner (by a transfer); false: it went away.
  LeaseId lease_id;
  std::string path;
  bool subtree = false;
  Token token;
  std::string actor;
  std::string reason;
  Time at;
  WallTime wall;
  Time drop_at;  // Not worth telling after this.

  Scope scope() const { return {path, subtree}; }
  bool operator==(const Notice&) const = default;
};

enum class Liveness { alive, dead, unknown };

// What is known about a process, and from what.
struct Verdict {
  Liveness liveness = Liveness::unknown;
  std::string evidence;
  bool is_stopped = false;  // Alive, but stopped by a signal or a debugger: it does nothing.

  bool operator==(const Verdict&) const = default;
};

// The words that reach people, JSON and the stores. Never renamed.
std::string_view word(Mode);
std::string_view word(Status);
std::string_view word(EndCause);
std::string_view word(EventType);
std::string_view word(Liveness);

// The value a word stands for; nothing for an unknown word.
template <class Enum>
std::optional<Enum> from_word(std::string_view);

}  // namespace leasehold
