// Processes as Linux shows them in /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "env/machine.h"
#include "leasehold/lease.h"

namespace leasehold {

// What /proc/PID/stat says, as far as we use it.
struct ProcessStat {
  pid_t pid = 0;
  std::string comm;  // Its name: any bytes, 15 at most. Programs change it.
  char state = '?';
  pid_t parent = 0;           // 0: outside of this pid namespace, or nobody's child.
  pid_t session = 0;          // The pid of its leader. 0: outside of this pid namespace.
  std::int64_t terminal = 0;  // 0: the session has no controlling terminal.
  std::int64_t threads = 1;
  std::uint64_t start_time = 0;  // Clock ticks since boot, as this process's time namespace has it.

  // It runs no more and only waits to be reaped. A process whose first thread alone has ended looks like
  // that too, but for its number of threads.
  bool has_ended() const;

  bool operator==(const ProcessStat&) const = default;
};

// Total: any bytes give a process or nothing.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// The /proc file system. Holds no state; thread-safe.
class ProcFolder {
 public:
  explicit ProcFolder(std::string root = "/proc") : root_(std::move(root)) {}

  // Whether it can be read and shows the pid namespace of this process. After `unshare --pid --fork` it
  // shows the one outside, where the same pids are other processes.
  bool is_own() const;

  // Errors: no_such_process, bad_message (not what a stat file looks like), and whatever else the system
  // says (permission_denied and operation_not_permitted where processes are hidden). Means nothing unless
  // is_own().
  std::expected<ProcessStat, std::errc> stat(pid_t pid) const;

  // The beginning of its command line; empty where there is none or it cannot be read.
  std::vector<std::string> arguments(pid_t pid) const;

 private:
  std::string root_;
};

// What tells this process from every other one. Nothing: it could never be recognised again, because the
// machine cannot be read or its time namespace shifts start times by parts of a clock tick.
std::optional<Process> identity(const Machine& machine, const ProcessStat& stat);

// The running process that has this pid here. Nothing: there is none, or it cannot be seen.
std::optional<Process> process_with_pid(const Machine& machine, pid_t pid,
                                        const ProcFolder& proc = ProcFolder());

// This one.
std::optional<Process> own_process(const Machine& machine);

}  // namespace leasehold
