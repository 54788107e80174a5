// Processes in other namespaces: what containers are made of. Needs a system that lets us make some.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>

#include <cstring>

#include "env/caller_process.h"
#include "env/child.h"
#include "env/proc_liveness.h"

namespace leasehold {
namespace {

constexpr std::string_view kRefused = "refused: ";

std::string refusal(std::string_view what) {
  return fmt::format("{}{}: {}", kRefused, what, std::strerror(errno));
}

bool write_file(const char* path, std::string_view text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return written;
}

// Makes the /proc of the pid namespace we are in, seen by nobody else.
bool mount_own_proc(const char* options = nullptr) {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("proc", "/proc", "proc", 0, options) == 0;
}

// "alive: pid 1 (x) is running"
std::string told(const Verdict& verdict) {
  return fmt::format("{}: {}", word(verdict.liveness), verdict.evidence);
}

// What `work` answers, run as the first process of new namespaces.
std::string inside(unsigned long namespaces, const Child::Work& work) {
  const Child child(work, namespaces);
  if (child.refused() != 0) {
    errno = child.refused();
    return refusal("new namespaces");
  }
  return child.answer();
}

// clang-format off
#define SKIP_IF_REFUSED(answer) if ((answer).starts_with(kRefused)) GTEST_SKIP() << (answer)
// clang-format on

// A child with a pid of our choice, which does nothing for ever.
pid_t start_with_pid(pid_t pid) {
  clone_args how{};
  how.exit_signal = SIGCHLD;
  how.set_tid = reinterpret_cast<std::uintptr_t>(&pid);
  how.set_tid_size = 1;
  const auto child = static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof how));
  if (child == 0) Child::rest();
  return child;
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(Namespaces, AReusedPidIsAnotherProcess) {
  const std::string answer = inside(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS, [] {
    if (!mount_own_proc()) return refusal("/proc");
    const Machine machine = read_machine();
    ProcLiveness liveness(machine);
    constexpr pid_t kPid = 77;
    if (start_with_pid(kPid) != kPid) return refusal("a pid of our choice");
    const Process first = process_with_pid(machine, kPid).value();
    std::string lines = told(liveness.look_at(first));
    end(kPid);
    lines += "\n" + told(liveness.look_at(first));
    // Start times are no finer than a clock tick. Nothing but a test reuses a pid within one.
    for (;;) {
      if (start_with_pid(kPid) != kPid) return refusal("a pid of our choice, again");
      if (process_with_pid(machine, kPid).value().start_time != first.start_time) break;
      end(kPid);
    }
    lines += "\n" + told(liveness.look_at(first));
    lines += fmt::format("\nwatch {}", liveness.watch(first) != nullptr);
    lines += "\n" + told(liveness.look_at(process_with_pid(machine, kPid).value()));
    return lines;
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            "alive: pid 77 (env_tests) is running\n"
            "dead: pid 77 is gone\n"
            "dead: pid 77 now belongs to another process\n"
            "watch false\n"
            "alive: pid 77 (env_tests) is running");
}

TEST(Namespaces, AHolderInAnotherPidNamespaceIsUnknown) {
  const Machine machine = read_machine();
  const Process outside = process_with_pid(machine, ::getpid()).value();
  Machine machine_inside = machine;
  const std::string answer = inside(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS, [&] {
    if (!mount_own_proc()) return refusal("/proc");
    ProcLiveness liveness(read_machine());
    return fmt::format("{} {}\n{}", read_machine().pid_namespace, liveness.watch(outside) != nullptr,
                       told(liveness.look_at(outside)));
  });
  SKIP_IF_REFUSED(answer);

  machine_inside.pid_namespace = std::stoull(answer);
  EXPECT_NE(machine_inside.pid_namespace, machine.pid_namespace);
  EXPECT_EQ(answer, fmt::format("{} false\nunknown: pid {} is in another pid namespace",
                                machine_inside.pid_namespace, ::getpid()));
  const Process within = {machine.machine_id, machine.boot_id, machine_inside.pid_namespace, 1, 1};
  EXPECT_EQ(told(ProcLiveness(machine).look_at(within)), "unknown: pid 1 is in another pid namespace");
  EXPECT_EQ(ProcLiveness(machine).watch(within), nullptr);
}

// As after `unshare --pid --fork`: /proc still shows the namespace outside, where our pids are others.
TEST(Namespaces, AProcOfAnotherPidNamespaceIsNoProof) {
  const std::string answer = inside(CLONE_NEWUSER | CLONE_NEWPID, [] {
    const Machine machine = read_machine();
    const Child holder(Child::rest);
    // The holder as those would record it who have the right /proc.
    const Process process = {machine.machine_id, machine.boot_id, machine.pid_namespace, holder.pid(), 1};
    return fmt::format("{}\nwatch {}\ndescribed {}\ncaller {}", told(ProcLiveness(machine).look_at(process)),
                       ProcLiveness(machine).watch(process) != nullptr,
                       process_with_pid(machine, holder.pid()).has_value(),
                       caller_process(machine, [](const char*) { return "1"; }).has_value());
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            "unknown: pid 2 cannot be seen: no /proc of this pid namespace\n"
            "watch false\n"
            "described false\n"
            "caller false");
}

TEST(Namespaces, WithoutAProcNobodyIsDead) {
  const Machine machine = read_machine();
  Child holder(Child::rest);
  const Process process = process_with_pid(machine, holder.pid()).value();
  holder.kill();
  holder.reap();
  const std::string answer = inside(CLONE_NEWUSER | CLONE_NEWNS, [&] {
    if (::mount("none", "/proc", "tmpfs", 0, nullptr) != 0) return refusal("to hide /proc");
    return fmt::format("{}\nwatch {}", told(ProcLiveness(machine).look_at(process)),
                       ProcLiveness(machine).watch(process) != nullptr);
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, fmt::format("unknown: pid {} cannot be seen: no /proc of this pid namespace\nwatch false",
                                process.pid));
}

// With hidepid=2 users do not see each other's processes.
TEST(Namespaces, AHiddenProcessIsUnknownAndAnEndedOneDead) {
  const std::string answer = inside(CLONE_NEWPID | CLONE_NEWNS, [] {
    if (!mount_own_proc("hidepid=2")) return refusal("/proc with hidepid=2");
    const Machine machine = read_machine();
    const Child holder(Child::rest);
    const Process process = process_with_pid(machine, holder.pid()).value();
    Process gone = process;
    gone.pid = 4000;
    const Child stranger([&] {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) return refusal("to become somebody else");
      ProcLiveness liveness(machine);
      return fmt::format("{}\n{}\nwatch {}", told(liveness.look_at(process)), told(liveness.look_at(gone)),
                         liveness.watch(process) != nullptr);
    });
    return stranger.answer();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            "unknown: pid 2 is hidden from this user\n"
            "dead: pid 4000 is gone\n"
            "watch false");
}

// Start times in /proc are shifted for those who live in a time namespace.
TEST(Namespaces, AnotherTimeNamespaceSeesTheSameProcess) {
  const Process outside = process_with_pid(read_machine(), ::getpid()).value();
  const auto look_with_offset = [&](std::string_view offset) {
    return inside(CLONE_NEWUSER, [&] {
      if (::unshare(CLONE_NEWTIME) != 0) return refusal("a time namespace");
      if (!write_file("/proc/self/timens_offsets", offset)) return refusal("to shift time");
      // Only children live in it.
      const Child shifted([&] {
        const Machine machine = read_machine();
        return fmt::format("{} {}", ProcFolder().stat(static_cast<pid_t>(outside.pid)).value().start_time,
                           told(ProcLiveness(machine).look_at(outside)));
      });
      return shifted.answer();
    });
  };
  const std::string whole_seconds = look_with_offset("boottime 1000 0");
  SKIP_IF_REFUSED(whole_seconds);

  EXPECT_EQ(whole_seconds,
            fmt::format("{} alive: pid {} (env_tests) is running", outside.start_time + 100'000, ::getpid()));
  const std::string odd = look_with_offset("boottime 1000 1000000");
  EXPECT_TRUE(odd.ends_with(" cannot be told from others in this time namespace")) << odd;
}

}  // namespace
}  // namespace leasehold
