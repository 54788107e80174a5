#include "repo_lock/pid_check.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <limits>

#include "env/machine.h"
#include "env/proc_liveness.h"
#include "env/processes.h"

namespace leasehold::repo_lock {
namespace {

// Where a start time is not known, the pid may be anybody's by now; so this errs on the side of alive.
Verdict check_bare_pid(std::int64_t number) {
  if (number <= 0 || number > std::numeric_limits<pid_t>::max()) {
    return {Liveness::unknown, fmt::format("{} is not a pid", number)};
  }
  const auto pid = static_cast<pid_t>(number);
  if (::kill(pid, 0) != 0 && errno == ESRCH) return {Liveness::dead, fmt::format("pid {} is gone", pid)};
  const ProcFolder proc;
  if (!proc.is_own()) return {Liveness::alive, fmt::format("pid {} exists", pid)};
  const auto stat = proc.stat(pid);
  if (stat && stat->has_ended()) return {Liveness::dead, fmt::format("pid {} has ended", pid)};
  return {Liveness::alive, fmt::format("pid {} is running", pid)};
}

}  // namespace

Verdict check_pid(const RepoLockInfo& holder) {
  if (!holder.process) return check_bare_pid(holder.pid);
  return ProcLiveness(read_machine()).look_at(*holder.process);
}

}  // namespace leasehold::repo_lock
