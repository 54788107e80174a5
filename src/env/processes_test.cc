#include "env/processes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/prctl.h>

#include <string>

#include "env/child.h"
#include "env/invented_proc.h"

namespace leasehold {
namespace {

const Machine kHere = {.machine_id = "machine", .boot_id = "boot", .pid_namespace = 1};

// As the kernel writes it. Every number is another, so that none can be taken for its neighbour.
std::string stat_line(pid_t pid, std::string_view comm, char state = 'S', std::uint64_t start_time = 2200) {
  return fmt::format("{} ({}) {} 4 5 6 34816 8 9 10 11 12 13 14 15 16 17 18 19 3 21 {} 23 24 25 26\n", pid,
                     comm, state, start_time);
}

TEST(ProcessStat, IsReadFromTheKernelsLine) {
  EXPECT_EQ(parse_process_stat(stat_line(4242, "claude")), (ProcessStat{.pid = 4242,
                                                                        .comm = "claude",
                                                                        .state = 'S',
                                                                        .parent = 4,
                                                                        .session = 6,
                                                                        .terminal = 34816,
                                                                        .threads = 3,
                                                                        .start_time = 2200}));
}

TEST(ProcessStat, IsNotFooledByTheName) {
  for (const std::string name :
       {"", " ", ")", "(", "a b", ") R 1 1 1 0", "((sd-pam))", "x) Z 9 9 9 9 9 (", "\\n"}) {
    const auto stat = parse_process_stat(stat_line(7, name));

    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->comm, name);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 4);
    EXPECT_EQ(stat->start_time, 2200u);
  }
}

TEST(ProcessStat, IsNothingWhereTheLineIsNotOne) {
  const std::string whole = stat_line(7, "a");
  for (const std::string text : {"", "\n", "7", "7 (", "7 )", ")(", "7 (a)", "(a) S 4 5 6", "7(a) S 4",
                                 "x (a) S 4 5 6", "-7 (a) S 4 5 6"}) {
    EXPECT_FALSE(parse_process_stat(text)) << text;
  }
  EXPECT_FALSE(parse_process_stat("0" + whole.substr(1)));
  EXPECT_FALSE(parse_process_stat("-" + whole));
  EXPECT_FALSE(parse_process_stat("99999999999" + whole));
  EXPECT_FALSE(parse_process_stat(stat_line(7, "a").replace(4, 3, ") SS")));
}

TEST(ProcessStat, IsNothingWhereTheLineIsCut) {
  const std::string whole = stat_line(7, "a", 'S', 2);
  const std::size_t end_of_start_time = whole.find(" 23 ");
  for (std::size_t size = 0; size < end_of_start_time; ++size) {
    EXPECT_FALSE(parse_process_stat(whole.substr(0, size))) << whole.substr(0, size);
  }
  EXPECT_TRUE(parse_process_stat(whole.substr(0, end_of_start_time)));
}

RC_GTEST_PROP(ProcessStat, SurvivesAnyBytes, (const std::string& bytes)) {
  parse_process_stat(bytes);
  parse_process_stat("1 (" + bytes);
  parse_process_stat("1 (a) " + bytes);
  RC_ASSERT(parse_process_stat(stat_line(7, bytes)).value().comm == bytes);
}

TEST(ProcessStat, HasEndedAsAZombieWithoutThreads) {
  EXPECT_FALSE((ProcessStat{.state = 'S'}).has_ended());
  EXPECT_FALSE((ProcessStat{.state = 'T'}).has_ended());
  EXPECT_FALSE((ProcessStat{.state = 'D'}).has_ended());
  EXPECT_TRUE((ProcessStat{.state = 'Z'}).has_ended());
  EXPECT_TRUE((ProcessStat{.state = 'X'}).has_ended());
  EXPECT_FALSE((ProcessStat{.state = 'Z', .threads = 2}).has_ended());
}

TEST(ProcFolder, SaysWhyAProcessCannotBeRead) {
  const InventedProc world;
  const ProcFolder proc(world.proc());
  world.file("proc/7/stat", stat_line(7, "a"));
  world.file("proc/8/stat", stat_line(7, "a"));
  world.file("proc/9/stat", "9 (a");
  world.file("proc/10/stat", std::string(100'000, ' '));

  EXPECT_EQ(proc.stat(7).value().comm, "a");
  EXPECT_EQ(proc.stat(8).error(), std::errc::bad_message);
  EXPECT_EQ(proc.stat(9).error(), std::errc::bad_message);
  EXPECT_EQ(proc.stat(10).error(), std::errc::bad_message);
  EXPECT_EQ(proc.stat(11).error(), std::errc::no_such_process);
}

TEST(ProcFolder, ReadsTheBeginningOfACommandLine) {
  using Arguments = std::vector<std::string>;
  const InventedProc world;
  const ProcFolder proc(world.proc());
  world.file("proc/7/cmdline", std::string("node\0/usr/bin/gemini\0\0--yolo\0", 29));
  world.file("proc/8/cmdline", "no NUL at the end");
  world.file("proc/9/cmdline", "");
  world.file("proc/10/cmdline", std::string("a\0", 2) + std::string(3'000'000, 'b'));

  EXPECT_EQ(proc.arguments(7), (Arguments{"node", "/usr/bin/gemini", "", "--yolo"}));
  EXPECT_EQ(proc.arguments(8), (Arguments{"no NUL at the end"}));
  EXPECT_EQ(proc.arguments(9), Arguments());
  EXPECT_EQ(proc.arguments(10).front(), "a");
  EXPECT_LT(proc.arguments(10).back().size(), 5000u);
  EXPECT_EQ(proc.arguments(11), Arguments());
}

TEST(ProcFolder, IsOwnOnlyIfItShowsThisProcess) {
  const InventedProc world;
  const ProcFolder proc(world.proc());
  EXPECT_TRUE(ProcFolder().is_own());
  EXPECT_TRUE(proc.is_own());

  std::filesystem::remove(world.proc() + "/self");
  EXPECT_FALSE(proc.is_own());
  for (const std::string& target :
       {std::to_string(::getpid() + 1), std::to_string(::getpid()) + "0", std::to_string(::getpid()) + "x",
        std::string("/"), std::string(200, '1')}) {
    std::filesystem::create_symlink(target, world.proc() + "/self");
    EXPECT_FALSE(proc.is_own()) << target;
    std::filesystem::remove(world.proc() + "/self");
  }
}

TEST(ProcessWithPid, IsNothingForOneThatCouldNotBeRecognisedLater) {
  const InventedProc world;
  const ProcFolder proc(world.proc());
  world.file("proc/7/stat", stat_line(7, "a"));
  world.file("proc/8/stat", "8 (a) Z 4 5 6 0 8 9 10 11 12 13 14 15 16 17 18 19 1 21 22 23\n");

  EXPECT_EQ(process_with_pid(kHere, 7, proc), (Process{"machine", "boot", 1, 7, 2200}));
  EXPECT_FALSE(process_with_pid(kHere, 8, proc));
  EXPECT_FALSE(process_with_pid(kHere, 9, proc));
  EXPECT_FALSE(process_with_pid(kHere, 0, proc));
  EXPECT_FALSE(process_with_pid(kHere, -1, proc));
  EXPECT_FALSE(process_with_pid({.machine_id = "machine", .pid_namespace = 1}, 7, proc));
  EXPECT_FALSE(process_with_pid({.machine_id = "machine", .boot_id = "boot"}, 7, proc));
  EXPECT_TRUE(process_with_pid({.boot_id = "boot", .pid_namespace = 1}, 7, proc));
}

TEST(ProcessWithPid, HasTheStartTimeOfTheMachineInEveryTimeNamespace) {
  using namespace std::chrono_literals;
  const auto start_time = [](std::uint64_t shown, std::chrono::nanoseconds offset) {
    Machine machine = kHere;
    machine.boottime_offset = offset;
    const auto process = identity(machine, {.pid = 7, .start_time = shown});
    return process ? std::optional(process->start_time) : std::nullopt;
  };
  // A hundred ticks a second, on every Linux there is.
  EXPECT_EQ(start_time(2200, 0s), 2200u);
  EXPECT_EQ(start_time(2200, 10s), 1200u);
  EXPECT_EQ(start_time(2200, -10s), 3200u);
  EXPECT_EQ(start_time(2200, 22s), 0u);
  EXPECT_EQ(start_time(2200, 23s), std::nullopt);
  EXPECT_EQ(start_time(2200, 1ms), std::nullopt);
  EXPECT_EQ(start_time(1844674307393, -1000s), std::nullopt);
  EXPECT_EQ(start_time(UINT64_MAX, -1000s), std::nullopt);
}

TEST(ProcessWithPid, KnowsRealProcesses) {
  const Machine machine = read_machine();
  Child child([] {
    ::prctl(PR_SET_NAME, "a) Z 1 (b");
    ::raise(SIGSTOP);
    return "";
  });
  ::waitpid(child.pid(), nullptr, WUNTRACED);

  const auto stat = ProcFolder().stat(child.pid());
  const auto process = process_with_pid(machine, child.pid());

  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->comm, "a) Z 1 (b");
  EXPECT_EQ(stat->state, 'T');
  EXPECT_EQ(stat->parent, ::getpid());
  EXPECT_EQ(stat->session, ::getsid(0));
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, child.pid());
  EXPECT_GE(process->start_time, process_with_pid(machine, ::getpid()).value().start_time);

  child.kill();
  child.wait();
  EXPECT_FALSE(process_with_pid(machine, child.pid()));
}

}  // namespace
}  // namespace leasehold
