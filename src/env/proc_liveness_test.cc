#include "env/proc_liveness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>

#include <thread>

#include "env/child.h"
#include "env/invented_proc.h"
#include "support/eventually.h"

namespace leasehold {
namespace {

const Machine kHere = {.machine_id = "machine", .boot_id = "boot", .pid_namespace = 1};

// Above the greatest pid that Linux gives out: it is never there.
constexpr pid_t kNobody = 4'194'305;

std::string stat_line(pid_t pid, char state = 'S', int threads = 1, std::string_view comm = "claude") {
  return fmt::format("{} ({}) {} 4 5 6 0 8 9 10 11 12 13 14 15 16 17 18 19 {} 21 2200 23\n", pid, comm, state,
                     threads);
}

void expect(const Verdict& verdict, Liveness liveness, std::string_view evidence) {
  EXPECT_EQ(word(verdict.liveness), word(liveness)) << verdict.evidence;
  EXPECT_EQ(verdict.evidence, evidence);
}

// A machine where pid 4242 runs since tick 2200.
class ProcLivenessInvented : public testing::Test {
 protected:
  ProcLivenessInvented() { world_.file("proc/4242/stat", stat_line(4242)); }

  Verdict look_at(const Process& process, const Machine& machine = kHere) const {
    return ProcLiveness(machine, ProcFolder(world_.proc())).look_at(process);
  }

  InventedProc world_;
  const Process claude_ = {"machine", "boot", 1, 4242, 2200};
};

TEST_F(ProcLivenessInvented, ARunningProcessIsAlive) {
  expect(look_at(claude_), Liveness::alive, "pid 4242 (claude) is running");
}

TEST_F(ProcLivenessInvented, AStoppedProcessIsAlive) {
  world_.file("proc/4242/stat", stat_line(4242, 'T'));
  expect(look_at(claude_), Liveness::alive, "pid 4242 (claude) is stopped");
  EXPECT_TRUE(look_at(claude_).is_stopped);
}

TEST_F(ProcLivenessInvented, AZombieIsDead) {
  for (const char state : {'Z', 'X'}) {
    world_.file("proc/4242/stat", stat_line(4242, state));
    expect(look_at(claude_), Liveness::dead, "pid 4242 (claude) has ended");
  }
}

TEST_F(ProcLivenessInvented, AnotherStartTimeIsAnotherProcess) {
  for (const std::uint64_t start_time : {2199, 2201, 0}) {
    Process other = claude_;
    other.start_time = start_time;
    expect(look_at(other), Liveness::dead, "pid 4242 now belongs to another process");
  }
}

TEST_F(ProcLivenessInvented, APidThatIsNotThereIsDead) {
  Process gone = claude_;
  gone.pid = kNobody;
  expect(look_at(gone), Liveness::dead, "pid 4194305 is gone");
}

TEST_F(ProcLivenessInvented, AProcessThatExistsButIsNotShownIsUnknown) {
  Process hidden = claude_;
  hidden.pid = ::getpid();
  expect(look_at(hidden), Liveness::unknown, fmt::format("pid {} is hidden from this user", ::getpid()));
}

TEST_F(ProcLivenessInvented, AnotherBootOfTheMachineIsDeath) {
  Process before = claude_;
  before.boot_id = "boot before";
  expect(look_at(before), Liveness::dead, "the machine was rebooted since");
}

TEST_F(ProcLivenessInvented, AnotherMachineIsUnknown) {
  for (const std::string machine_id : {"other", ""}) {
    Process elsewhere = claude_;
    elsewhere.machine_id = machine_id;
    elsewhere.boot_id = "other boot";
    expect(look_at(elsewhere), Liveness::unknown, "pid 4242 is on another machine");
  }
}

TEST_F(ProcLivenessInvented, MachinesWithoutIdAreNotOneMachine) {
  Process elsewhere = claude_;
  elsewhere.machine_id = "";
  elsewhere.boot_id = "other boot";
  Machine nameless = kHere;
  nameless.machine_id = "";
  expect(look_at(elsewhere, nameless), Liveness::unknown, "pid 4242 is on another machine");
}

TEST_F(ProcLivenessInvented, OneKernelIsOneMachineWhateverItsIds) {
  for (const std::string machine_id : {"other", ""}) {
    Process in_container = claude_;
    in_container.machine_id = machine_id;
    EXPECT_EQ(look_at(in_container).liveness, Liveness::alive);

    in_container.start_time = 1;
    EXPECT_EQ(look_at(in_container).liveness, Liveness::dead);

    in_container.pid_namespace = 2;
    expect(look_at(in_container), Liveness::unknown, "pid 4242 is in another pid namespace");
  }
}

TEST_F(ProcLivenessInvented, WhatTheRecordOrTheMachineDoesNotSayIsUnknown) {
  Process process = claude_;
  process.boot_id = "";
  EXPECT_EQ(look_at(process).liveness, Liveness::unknown);

  Machine machine = kHere;
  machine.boot_id = "";
  EXPECT_EQ(look_at(claude_, machine).liveness, Liveness::unknown);
  EXPECT_EQ(look_at(process, machine).liveness, Liveness::unknown);

  // The worst case: without namespaces, a pid that is not there would be proof.
  process = claude_;
  process.pid = kNobody;
  process.pid_namespace = 0;
  machine = kHere;
  machine.pid_namespace = 0;
  EXPECT_EQ(look_at(process).liveness, Liveness::unknown);
  EXPECT_EQ(look_at(process, machine).liveness, Liveness::unknown);
}

TEST_F(ProcLivenessInvented, WhatCannotBeAPidIsUnknown) {
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{-4242}, INT64_MAX, INT64_MIN,
                                 (std::int64_t{1} << 32) + 4242}) {
    Process process = claude_;
    process.pid = pid;
    EXPECT_EQ(look_at(process).liveness, Liveness::unknown) << pid;
  }
}

TEST_F(ProcLivenessInvented, WhatCannotBeReadIsUnknown) {
  for (const std::string text : {"", "garbage", "4242 (claude) S 4 5"}) {
    world_.file("proc/4242/stat", text);
    expect(look_at(claude_), Liveness::unknown, "pid 4242 cannot be seen: Bad message");
  }
}

TEST_F(ProcLivenessInvented, AnEmptyProcIsNoProof) {
  Process gone = claude_;
  gone.pid = kNobody;
  std::filesystem::remove(world_.proc() + "/self");

  for (const Process& process : {claude_, gone}) {
    EXPECT_EQ(look_at(process).liveness, Liveness::unknown);
    EXPECT_EQ(ProcLiveness(kHere, ProcFolder("/nowhere")).look_at(process).liveness, Liveness::unknown);
  }
}

TEST_F(ProcLivenessInvented, AProcOfOthersIsNoProof) {
  Process gone = claude_;
  gone.pid = kNobody;
  world_.set_self(1);

  expect(look_at(gone), Liveness::unknown, "pid 4194305 cannot be seen: no /proc of this pid namespace");
}

TEST_F(ProcLivenessInvented, StartTimesThatCannotBeComparedAreNoProof) {
  Machine shifted = kHere;
  shifted.boottime_offset = std::chrono::milliseconds(1);
  expect(look_at(claude_, shifted), Liveness::unknown,
         "pid 4242 cannot be told from others in this time namespace");
}

TEST_F(ProcLivenessInvented, ANameNotFitForATerminalIsNotShown) {
  for (const std::string name : {"\x1b[2J", "\xff", ""}) {
    world_.file("proc/4242/stat", stat_line(4242, 'S', 1, name));
    expect(look_at(claude_), Liveness::alive, "pid 4242 is running");
  }
}

// Root may read everything, so this is looked at by somebody else.
TEST_F(ProcLivenessInvented, APermissionDeniedIsNoProof) {
  using std::filesystem::perms;
  const auto look_without = [&](const std::string& denied, const Process& process) {
    const Child nobody([&]() -> std::string {
      world_.set_self(::getpid());
      std::filesystem::permissions(denied, perms::none);
      if (::getuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)) {
        return "cannot become somebody else";
      }
      const Verdict verdict = look_at(process);
      return fmt::format("{}: {}", word(verdict.liveness), verdict.evidence);
    });
    const std::string answer = nobody.answer();
    std::filesystem::permissions(denied, perms(0755));
    return answer;
  };
  Process gone = claude_;
  gone.pid = kNobody;
  std::filesystem::permissions(world_.root(), perms(0755));

  EXPECT_EQ(look_without(world_.proc() + "/4242", claude_),
            "unknown: pid 4242 cannot be seen: Permission denied");
  EXPECT_EQ(look_without(world_.proc(), claude_),
            "unknown: pid 4242 cannot be seen: no /proc of this pid namespace");
  EXPECT_EQ(look_without(world_.proc(), gone),
            "unknown: pid 4194305 cannot be seen: no /proc of this pid namespace");
}

class ProcLivenessReal : public testing::Test {
 protected:
  Process describe(const Child& child) const { return process_with_pid(machine_, child.pid()).value(); }
  Verdict look_at(const Process& process) { return liveness_.look_at(process); }

  const Machine machine_ = read_machine();
  ProcLiveness liveness_{machine_};
};

TEST_F(ProcLivenessReal, AProcessIsAliveUntilItIsKilled) {
  Child child(Child::rest);
  const Process process = describe(child);
  EXPECT_EQ(look_at(process).liveness, Liveness::alive);

  child.kill();
  child.wait();
  EXPECT_EQ(look_at(process).liveness, Liveness::dead);
  EXPECT_TRUE(look_at(process).evidence.ends_with(" has ended")) << look_at(process).evidence;

  child.reap();
  EXPECT_EQ(look_at(process).liveness, Liveness::dead);
}

TEST_F(ProcLivenessReal, AStoppedProcessIsAlive) {
  const Child child(Child::rest);
  ::kill(child.pid(), SIGSTOP);
  ::waitpid(child.pid(), nullptr, WUNTRACED);

  EXPECT_EQ(look_at(describe(child)).liveness, Liveness::alive);
}

TEST_F(ProcLivenessReal, ThisProcessIsAlive) {
  EXPECT_EQ(look_at(process_with_pid(machine_, ::getpid()).value()).liveness, Liveness::alive);
}

// The kernel shows the whole process as a zombie, but it can still write files.
TEST_F(ProcLivenessReal, AProcessWhoseFirstThreadEndedIsAlive) {
  Child child([]() -> std::string {
    std::thread(Child::rest).detach();
    ::syscall(SYS_exit, 0);
    return "";
  });
  while (ProcFolder().stat(child.pid()).value().state != 'Z') ::sched_yield();
  // Not by process_with_pid, so that this test has one reason to fail.
  const Process process = identity(machine_, ProcFolder().stat(child.pid()).value()).value();

  for (int i = 0; i < 3; ++i) EXPECT_EQ(look_at(process).liveness, Liveness::alive);

  child.kill();
  child.wait();
  EXPECT_EQ(look_at(process).liveness, Liveness::dead);
}

TEST_F(ProcLivenessReal, AnInjectedBootIdIsAReboot) {
  const Child child(Child::rest);
  Machine rebooted = machine_;
  rebooted.machine_id = "machine";
  rebooted.boot_id = "another";
  Process process = describe(child);
  process.machine_id = "machine";

  EXPECT_EQ(ProcLiveness(rebooted).look_at(process).liveness, Liveness::dead);
}

bool is_readable(int descriptor, int timeout_ms) {
  pollfd watched = {.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, timeout_ms) == 1 && (watched.revents & POLLIN) != 0;
}

int next_descriptor() {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(descriptor);
  return descriptor;
}

constexpr int kPatience = 30'000;  // Only a failing test waits that long.

TEST_F(ProcLivenessReal, WhoIsLookedAtOftenIsSeenToEnd) {
  Child child(Child::rest);
  const Process process = describe(child);
  const int next = next_descriptor();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(look_at(process).liveness, Liveness::alive);
    EXPECT_EQ(next_descriptor(), i == 0 ? next : next + 1) << "one descriptor, from the second look on";
  }
  Process later = process;
  later.start_time += 1;
  EXPECT_EQ(look_at(later).liveness, Liveness::dead) << "another process that has its pid";
  EXPECT_EQ(look_at(process).liveness, Liveness::alive);
  EXPECT_EQ(look_at(process).liveness, Liveness::alive);

  child.kill();
  child.wait();
  EXPECT_TRUE(look_at(process).evidence.ends_with(" has ended")) << look_at(process).evidence;
  EXPECT_EQ(next_descriptor(), next);

  child.reap();
  EXPECT_EQ(look_at(process).liveness, Liveness::dead);
}

TEST_F(ProcLivenessReal, WhoIsLookedAtOftenIsSeenToBeStopped) {
  const Child child(Child::rest);
  const Process process = describe(child);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(look_at(process).is_stopped);

  ::kill(child.pid(), SIGSTOP);
  EXPECT_TRUE(eventually([&] { return look_at(process).is_stopped; }));

  ::kill(child.pid(), SIGCONT);
  EXPECT_TRUE(eventually([&] { return !look_at(process).is_stopped; }));
}

TEST_F(ProcLivenessReal, AWatchIsReadableOnceTheProcessIsKilledAndNotBefore) {
  const Child child(Child::rest);

  const auto watch = liveness_.watch(describe(child));

  ASSERT_TRUE(watch);
  EXPECT_TRUE(::fcntl(watch->number(), F_GETFD) & FD_CLOEXEC);
  EXPECT_FALSE(is_readable(watch->number(), 0));
  child.kill();
  EXPECT_TRUE(is_readable(watch->number(), kPatience));
}

TEST_F(ProcLivenessReal, AWatchSeesAProcessEndByItself) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const Child child([&]() -> std::string {
    char ignored;
    ::close(gate[1]);
    return ::read(gate[0], &ignored, 1) == 0 ? "" : "not closed";
  });
  const auto watch = liveness_.watch(describe(child));
  ASSERT_TRUE(watch);
  EXPECT_FALSE(is_readable(watch->number(), 0));

  ::close(gate[1]);

  EXPECT_TRUE(is_readable(watch->number(), kPatience));
  ::close(gate[0]);
}

TEST_F(ProcLivenessReal, AllWhoWatchOneProcessShareADescriptor) {
  const Child child(Child::rest);
  const Process process = describe(child);
  const auto watch = liveness_.watch(process);
  ASSERT_TRUE(watch);
  const int next = next_descriptor();

  EXPECT_EQ(liveness_.watch(process), watch);
  EXPECT_EQ(look_at(process).liveness, Liveness::alive);
  EXPECT_EQ(next_descriptor(), next);

  // Another one that takes its place in the table does not take the descriptor from those who have it.
  Process other = process;
  other.start_time += 1;
  EXPECT_EQ(liveness_.watch(other), nullptr);
  EXPECT_FALSE(is_readable(watch->number(), 0));
}

TEST_F(ProcLivenessReal, WhatIsNotAliveHereIsNotWatched) {
  Child child(Child::rest);
  const Process process = describe(child);
  const int next = next_descriptor();
  const auto expect_unwatched = [&](Process other) {
    EXPECT_EQ(liveness_.watch(other), nullptr);
    EXPECT_EQ(next_descriptor(), next) << "a descriptor was left open";
  };

  Process other = process;
  other.start_time += 1;  // The pid is another process's now.
  expect_unwatched(other);
  other = process;
  other.boot_id = "another";
  expect_unwatched(other);
  other = process;
  other.pid_namespace += 1;
  expect_unwatched(other);
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{kNobody}, INT64_MAX}) {
    other = process;
    other.pid = pid;
    expect_unwatched(other);
  }
  child.kill();
  child.wait();
  expect_unwatched(process);
  child.reap();
  expect_unwatched(process);
}

}  // namespace
}  // namespace leasehold
