// The gate: may these files be written now? Asked at the write itself, before it is applied.
//
// One fixed protocol when somebody else holds a file: denied once, with one retry at a moment that never
// moves; denied again at the retry, the worker is halted until somebody instructs it. docs/gate.md draws it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "leasehold/calls.h"

namespace leasehold {

enum class ContentionState {
  scheduled,  // Denied once; to be tried again at `retry_at`, not earlier.
  halted,     // Denied again: a blocker, until instructed.
  abandoned,  // Instructed to leave the file alone, for the rest of the session.
};

// What an operator says to a halted worker.
enum class Instruction {
  retry,     // Look once more, at once; else it is halted again.
  force,     // End what is in the way, and grant.
  transfer,  // Move what is in the way to the worker.
  abandon,
};

// What the gate remembers of one owner and one path it could not write.
struct Contention {
  std::string id;  // Names the blocker.
  std::string path;
  AcquireRequest wanted;  // The path with its pairs, as it will be granted.
  ContentionState state = ContentionState::scheduled;
  bool may_retry = false;  // Halted, and instructed to look once more.
  // The last instruction's, for the worker to read; empty while there was none.
  std::string instructed_by;
  std::string instruction_reason;

  Time first_denied_at;
  Time retry_at;
  std::optional<Time> retried_at;
  Blocked in_the_way;  // At the last denial.
  Time drop_at;        // Not worth keeping after this.

  const Owner& owner() const { return wanted.caller.holder.owner; }
  bool operator==(const Contention&) const = default;
};

// What becomes of notices at the gate.
enum class Telling {
  told,  // The caller is told, once.
  kept,  // It cannot pass them on: the answer shows them, and the next one has them again. A denial for
         // something lost tells of it all the same.
  only,  // It asks for nothing else: the request has no paths, and the answer is Allowed.
};

struct GateRequest {
  AcquireRequest wanted;  // With pairs. `wait` must not be set: the gate does not queue.
  bool read = false;      // Only to be read: refused while another owner holds it exclusively.
  Telling telling = Telling::told;
};

struct Allowed {
  std::vector<Lease> leases;  // That cover the paths. None for a read.
  bool granted = false;       // Some of them just now.
};

struct Denied {
  // retry_later, halted, busy (a read), lost or transferred (what the caller held before it asked).
  Code code{};
  std::string message;
  std::vector<Contention> contentions;  // One for each path in the way.
  std::vector<Blocked> blocked;         // Who is in the way now.
  Time retry_at;                        // The latest; with retry_later.
  std::size_t more_blocked = 0;         // So many others are in the way, too, as in Queued.
};

struct GateAnswer {
  std::variant<Allowed, Denied> decision;
  Time at;  // Store time of this answer, and what people's clocks said then.
  WallTime wall;
  std::vector<Notice> notices;
};

// A halted worker, as operators see it.
struct Blocker {
  Contention contention;
  Verdict worker;                // Whether it still is there.
  std::vector<Blocked> blocked;  // Who is in its way now; nobody: it could go.
};

struct Blockers {
  Time at;
  WallTime wall;
  std::vector<Blocker> blockers;  // Oldest first.
};

struct InstructRequest {
  std::string id;  // The blocker's.
  Instruction instruction{};
  std::string actor;
  std::string reason;
};

std::string_view word(ContentionState);
std::string_view word(Instruction);
std::string_view word(Telling);

}  // namespace leasehold
