#include "env/proc_liveness.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <limits>

#include "util/utf8.h"

namespace leasehold {
namespace {

bool is_possible_pid(std::int64_t pid) { return pid > 0 && pid <= std::numeric_limits<pid_t>::max(); }

// "pid 4242 (claude)". A name is any bytes; what a terminal cannot show is left out.
std::string named(const ProcessStat& process) {
  const bool is_fit =
      !process.comm.empty() && !invalid_utf8_at(process.comm) && !has_control_character(process.comm);
  return is_fit ? fmt::format("pid {} ({})", process.pid, process.comm) : fmt::format("pid {}", process.pid);
}

// For a process that /proc does not show: with the mount option hidepid it hides those of other users. A
// signal that is not sent tells them from those that do not exist.
Verdict judge_absent(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return {Liveness::dead, fmt::format("pid {} is gone", pid)};
  return {Liveness::unknown, fmt::format("pid {} is hidden from this user", pid)};
}

// glibc 2.36 has pidfd_open, older ones do not. The descriptor is close-on-exec by itself.
int open_pid(std::int64_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
}

bool has_ended(const Descriptor& process) {
  pollfd watched = {.fd = process.number(), .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) != 0;
}

}  // namespace

Verdict ProcLiveness::look_at(const Process& process) {
  if (auto verdict = judge_place(process)) return *std::move(verdict);
  if (process.pid == ::getpid()) return look_in_proc(process);
  const std::lock_guard lock(seen_mutex_);
  Seen& seen = seen_at(process);
  if (seen.process == process) return look_at_watched(seen);
  seen = {.process = process};
  return look_in_proc(process);
}

Verdict ProcLiveness::look_at_watched(Seen& seen) {
  const auto now = std::chrono::steady_clock::now();
  if (seen.end && has_ended(*seen.end)) seen.end.reset();
  if (seen.end && now < seen.until) return seen.verdict;
  // Opened by pid, and before the look: who is seen alive then is the one we opened.
  if (!seen.end) {
    Descriptor opened(open_pid(seen.process.pid));
    if (opened.is_open()) seen.end = std::make_shared<const Descriptor>(std::move(opened));
  }
  seen.verdict = look_in_proc(seen.process);
  seen.until = now + kSeenLife;
  if (seen.verdict.liveness != Liveness::alive) seen.end.reset();
  return seen.verdict;
}

std::shared_ptr<const Descriptor> ProcLiveness::watch(const Process& process) {
  if (judge_place(process)) return nullptr;
  const std::lock_guard lock(seen_mutex_);
  Seen& seen = seen_at(process);
  if (seen.process != process) seen = {.process = process};
  look_at_watched(seen);
  return seen.end;
}

std::optional<Verdict> ProcLiveness::judge_place(const Process& process) const {
  if (process.boot_id.empty() || machine_.boot_id.empty()) {
    return Verdict{Liveness::unknown, fmt::format("pid {} runs nobody knows where", process.pid)};
  }
  // Equal boot ids are one kernel, whatever the machine ids: a container may have one of its own, or none.
  if (process.boot_id != machine_.boot_id) {
    const bool same_machine = !process.machine_id.empty() && process.machine_id == machine_.machine_id;
    if (same_machine) return Verdict{Liveness::dead, "the machine was rebooted since"};
    return Verdict{Liveness::unknown, fmt::format("pid {} is on another machine", process.pid)};
  }
  if (process.pid_namespace == 0 || process.pid_namespace != machine_.pid_namespace) {
    return Verdict{Liveness::unknown, fmt::format("pid {} is in another pid namespace", process.pid)};
  }
  if (!is_possible_pid(process.pid)) {
    return Verdict{Liveness::unknown, fmt::format("{} is not a pid", process.pid)};
  }
  return std::nullopt;
}

Verdict ProcLiveness::look_in_proc(const Process& process) {
  const auto pid = static_cast<pid_t>(process.pid);
  const bool is_this_one = pid == ::getpid();
  if (is_this_one) {
    const std::lock_guard lock(mutex_);
    if (own_.pid == pid) return judge(process, own_);
  }
  if (!proc_.is_own()) {
    return {Liveness::unknown,
            fmt::format("pid {} cannot be seen: no /proc of this pid namespace", process.pid)};
  }
  const auto found = proc_.stat(pid);
  if (found && is_this_one) {
    const std::lock_guard lock(mutex_);
    own_ = *found;
  }
  if (found) return judge(process, *found);
  if (found.error() == std::errc::no_such_process) return judge_absent(pid);
  return {Liveness::unknown,
          fmt::format("pid {} cannot be seen: {}", pid, std::make_error_code(found.error()).message())};
}

Verdict ProcLiveness::judge(const Process& process, const ProcessStat& found) const {
  const auto now_there = identity(machine_, found);
  if (!now_there) {
    return {Liveness::unknown,
            fmt::format("pid {} cannot be told from others in this time namespace", found.pid)};
  }
  if (now_there->start_time != process.start_time) {
    return {Liveness::dead, fmt::format("pid {} now belongs to another process", found.pid)};
  }
  if (found.has_ended()) return {Liveness::dead, named(found) + " has ended"};
  const bool is_stopped = found.state == 'T' || found.state == 't';
  return {Liveness::alive, named(found) + (is_stopped ? " is stopped" : " is running"), is_stopped};
}

}  // namespace leasehold
