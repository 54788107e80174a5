// One writer per repository, across processes, by a lock file: no store and no daemon. docs/repo-lock.md has
// the file's format and what other programs must know that use it too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

// What a lock file says about its holder.
struct RepoLockInfo {
  std::int64_t pid = 0;            // 0: the file names none, and nobody can tell whether its process lives.
  WallTime created_at;             // When the file was changed last, where it does not say or says nonsense.
  std::string cmd;                 // What the holder does, for people; may be empty.
  std::optional<Process> process;  // Which process exactly has that pid. Others' files may not say.

  bool operator==(const RepoLockInfo&) const = default;
};

// A refusal: somebody else has the lock, or is taking it right now.
struct Locked {
  std::string repo_id;
  std::optional<RepoLockInfo> info;  // Nothing: the file cannot be read.
  std::string path;                  // Of the lock file.
  Duration age{};
  Verdict verdict;  // What is known about the holder's process.
};

// For people: who has it, for how long, what to do next.
std::string describe(const Locked& locked);

// A lock that is held; given back on destruction. For one thread at a time, in the process that took it.
class RepoLockGuard {
 public:
  RepoLockGuard(RepoLockGuard&&) noexcept;
  RepoLockGuard& operator=(RepoLockGuard&&) noexcept;
  ~RepoLockGuard();

  // Removes the lock file, if it is still the one that was made for this guard. Once that is settled, further
  // calls succeed and do nothing. A file that somebody removed by hand is no error.
  //
  // Errors: lost (somebody else has or had the lock since; nothing was removed, and what was done under it
  // may have been done by two), unavailable (the file is still there, and so is the lock; calling again is
  // safe). Waits at most two seconds for another process that is deciding about this lock.
  Result<void> unlock();

  // Whether the lock is still held. Reads one folder entry; never waits.
  // Errors: lost, unavailable (cannot be told).
  Result<void> check() const;

 private:
  friend struct RepoLock;
  struct Held;
  explicit RepoLockGuard(std::unique_ptr<Held> held);

  std::unique_ptr<Held> held_;  // Null: given back, or moved from.
};

// Being refused is an answer, not an error.
using RepoLockAnswer = std::variant<RepoLockGuard, Locked>;

struct RepoLockStatus {
  Locked lock;
  bool is_stale = false;  // The next one to ask gets it.
};

// Takes locks ${data_dir}/repos/<repo_id>/.lock. Copyable, thread-safe; reads no environment variable.
//
// A lock is stale if its process is not alive or if it is older than `stale_after`; a stale one is taken
// over. Among users of this class there is never more than one winner: they decide and act one at a time,
// under the guard file .lock.guard, which is never removed.
struct RepoLock {
  std::string data_dir;  // Made if missing, like the folders in it (mode 0700).
  Duration stale_after = std::chrono::hours(2);

  // What tests replace. Left empty: this machine's wall clock, and its processes by pid and, where the file
  // has it, start time. A verdict other than `dead` counts as alive.
  std::function<WallTime()> now;
  std::function<Verdict(const RepoLockInfo&)> is_pid_alive;

  // Takes the lock, or says who has it. `cmd` goes into the file; what is not UTF-8 is escaped, and a long
  // text is cut. Never waits for a holder; for another process that is deciding at this moment, 100 ms at
  // most.
  //
  // Errors: invalid_argument (a repo_id that is empty, over 255 bytes, not UTF-8, starts with a dot, or
  // contains a slash, backslash or control character; an empty data_dir; a stale_after that is not positive),
  // config_error (something else than a file or folder of ours is in the way), unavailable (the folder cannot
  // be made or written). After an error nothing is held.
  Result<RepoLockAnswer> lock(std::string_view repo_id, std::string_view cmd = {}) const;

  // Who has the lock; nothing: nobody. Changes nothing. Errors: as lock().
  Result<std::optional<RepoLockStatus>> status(std::string_view repo_id) const;
};

}  // namespace leasehold
