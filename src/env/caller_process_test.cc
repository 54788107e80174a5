#include "env/caller_process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/prctl.h>
#include <utmp.h>

#include <map>

#include "env/child.h"
#include "env/invented_proc.h"

namespace leasehold {
namespace {

using Arguments = std::vector<std::string>;

constexpr int kTerminal = 34816;  // /dev/pts/0

class InventedTable final : public ProcessTable {
 public:
  struct Row {
    ProcessStat stat;
    Arguments arguments;
  };

  InventedTable(std::initializer_list<Row> rows) {
    for (const Row& row : rows) rows_[row.stat.pid] = row;
  }

  std::optional<ProcessStat> find(pid_t pid) const override {
    ++reads;
    const auto row = rows_.find(pid);
    return row == rows_.end() ? std::nullopt : std::optional(row->second.stat);
  }
  Arguments arguments(pid_t pid) const override {
    ++reads;
    const auto row = rows_.find(pid);
    return row == rows_.end() ? Arguments() : row->second.arguments;
  }

  mutable int reads = 0;

 private:
  std::map<pid_t, Row> rows_;
};

// A process without a terminal, in a session of nobody's.
InventedTable::Row detached(pid_t pid, pid_t parent, Arguments arguments, std::string comm = "") {
  if (comm.empty())
    comm = arguments.empty() ? "" : arguments.front().substr(arguments.front().rfind('/') + 1);
  return {{.pid = pid, .comm = comm, .state = 'S', .parent = parent}, std::move(arguments)};
}

InventedTable::Row on_terminal(pid_t pid, pid_t parent, pid_t session, Arguments arguments) {
  InventedTable::Row row = detached(pid, parent, std::move(arguments));
  row.stat.session = session;
  row.stat.terminal = kTerminal;
  return row;
}

const InventedTable::Row kInit = detached(1, 0, {"/sbin/init"}, "systemd");

Variables variables(const std::map<std::string, std::string>& set) {
  return [&set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
}

// "claude 20", "terminal 10" or "none": on what the leases of pid 99 hang.
std::string found_in(const InventedTable& table, const std::map<std::string, std::string>& set = {}) {
  const auto found = find_caller_process(table, 99, variables(set));
  if (!found) return "none";
  return fmt::format("{} {}", found->agent.empty() ? "terminal" : found->agent, found->process.pid);
}

// A hook of this agent runs `lease`; which agent is recognised.
std::string hook_of(const Arguments& agent, const std::string& comm = "") {
  return found_in({kInit, on_terminal(10, 1, 10, {"-bash"}), detached(20, 10, agent, comm),
                   detached(30, 20, {"/bin/sh", "-c", "lease hook"}), detached(99, 30, {"lease", "hook"})});
}

TEST(CallerProcess, IsTheAgentWhoseHookRuns) {
  EXPECT_EQ(hook_of({"claude"}), "claude 20");
  EXPECT_EQ(hook_of({"/usr/local/bin/codex", "exec", "go"}), "codex 20");
  EXPECT_EQ(hook_of({"cursor-agent"}, "node"), "cursor 20");
  EXPECT_EQ(hook_of({"opencode"}), "opencode 20");
  EXPECT_EQ(hook_of({"/usr/share/windsurf/windsurf", "--type=utility"}), "windsurf 20");
}

TEST(CallerProcess, IsAnAgentThatRunsInNode) {
  EXPECT_EQ(hook_of({"node", "/usr/bin/gemini"}), "gemini 20");
  EXPECT_EQ(
      hook_of({"/usr/bin/node", "--max-old-space-size=8192", "/usr/bin/gemini", "-p", "go"}, "MainThread"),
      "gemini 20");
  EXPECT_EQ(hook_of({"node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js"}, "node-MainThread"),
            "gemini 20");
  EXPECT_EQ(hook_of({"node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}), "claude 20");
  EXPECT_EQ(hook_of({"node", "/usr/lib/node_modules/@github/copilot/index.js"}), "copilot 20");
  EXPECT_EQ(hook_of({"bun", "/home/ann/.bun/bin/opencode"}), "opencode 20");
  EXPECT_EQ(hook_of({"node", "/usr/lib/node_modules/cline/dist/cli.mjs"}), "cline 20");
}

TEST(CallerProcess, IsAnAgentThatRunsInPython) {
  EXPECT_EQ(hook_of({"/usr/bin/python3.11", "/home/ann/.local/bin/aider"}), "aider 20");
  EXPECT_EQ(hook_of({"python", "-m", "aider"}), "aider 20");
}

TEST(CallerProcess, IsAnAgentNamedByItsVersionOrItsTitle) {
  EXPECT_EQ(hook_of({"/home/ann/.local/share/claude/versions/2.1.325", "--resume"}), "claude 20");
  EXPECT_EQ(hook_of({"claude"}, "2.1.325"), "claude 20");
  EXPECT_EQ(hook_of({"/home/ann/.local/share/cursor-agent/versions/1/node", "index.js"}), "cursor 20");
  EXPECT_EQ(hook_of({}, "claude"), "claude 20");
  EXPECT_EQ(hook_of({"/opt/x"}, "claude"), "claude 20");
}

// Each of these would end the leases of a living agent.
TEST(CallerProcess, IsNeverWhatOnlySoundsLikeAnAgent) {
  EXPECT_EQ(hook_of({"/bin/bash", "/home/ann/.claude/hooks/claude"}, "claude"), "none");
  EXPECT_EQ(hook_of({"node", "/home/ann/.claude/hooks/claude.js"}), "none");
  EXPECT_EQ(hook_of({"python3", "/home/ann/.gemini/hooks/gate.py"}), "none");
  EXPECT_EQ(hook_of({"codex-linux-sandbox", "--", "sh"}, "codex"), "none");
  EXPECT_EQ(hook_of({"claude-hook"}), "none");
  EXPECT_EQ(hook_of({"/home/ann/claude/run"}), "none");
  EXPECT_EQ(hook_of({"vim", "claude"}), "none");
  EXPECT_EQ(hook_of({"node"}), "none");
  EXPECT_EQ(hook_of({"node", "--eval"}), "none");
  EXPECT_EQ(hook_of({""}), "none");
  EXPECT_EQ(hook_of({"claude/"}, "x"), "none");
}

TEST(CallerProcess, IsTheNearestOfTwoAgents) {
  EXPECT_EQ(found_in({kInit, detached(20, 1, {"claude"}), detached(30, 20, {"bash"}),
                      detached(40, 30, {"codex"}), detached(99, 40, {"lease"})}),
            "codex 40");
}

TEST(CallerProcess, IsTheAgentEvenOnATerminal) {
  EXPECT_EQ(found_in({kInit, on_terminal(10, 1, 10, {"-bash"}), on_terminal(20, 10, 10, {"claude"}),
                      on_terminal(99, 20, 10, {"lease"})}),
            "claude 20");
}

TEST(CallerProcess, IsTheAncestorThatTheAgentNames) {
  const InventedTable table = {kInit, detached(20, 1, {"/opt/agent"}), detached(30, 20, {"sh"}),
                               detached(99, 30, {"lease"})};
  EXPECT_EQ(found_in(table), "none");
  EXPECT_EQ(found_in(table, {{"CLAUDE_PID", "20"}}), "claude 20");
  EXPECT_EQ(found_in(table, {{"OPENCODE_PID", "20"}}), "opencode 20");
  for (const std::string odd : {"", "0", "-20", "20 ", " 20", "20x", "x", "99999999999999999999"}) {
    EXPECT_EQ(found_in(table, {{"CLAUDE_PID", odd}}), "none") << odd;
  }
}

TEST(CallerProcess, IsTheNamedAgentRatherThanItsHelper) {
  const InventedTable table = {kInit, detached(20, 1, {"claude"}),
                               detached(30, 20, {"/x/claude/versions/2.1.325", "--bg-pty-host"}),
                               detached(99, 30, {"lease"})};
  EXPECT_EQ(found_in(table), "claude 30");
  EXPECT_EQ(found_in(table, {{"CLAUDE_PID", "20"}}), "claude 20");
}

TEST(CallerProcess, IsNotTheNamedAgentWhenAnotherOneIsNearer) {
  const InventedTable table = {kInit, detached(20, 1, {"claude"}), detached(30, 20, {"codex"}),
                               detached(99, 30, {"lease"})};
  EXPECT_EQ(found_in(table, {{"CLAUDE_PID", "20"}}), "codex 30");
}

TEST(CallerProcess, IsTheNamedAgentForWhatItDetached) {
  EXPECT_EQ(
      found_in({kInit, detached(20, 1, {"claude"}), detached(99, 1, {"lease"})}, {{"CLAUDE_PID", "20"}}),
      "claude 20");
}

TEST(CallerProcess, IsNotAStrangerThatGotThePidOfAnEndedAgent) {
  const std::map<std::string, std::string> set = {{"CLAUDE_PID", "20"}};
  EXPECT_EQ(found_in({kInit, detached(20, 1, {"sleep", "9"}), detached(99, 1, {"lease"})}, set), "none");
  EXPECT_EQ(found_in({kInit, detached(20, 1, {"codex"}), detached(99, 1, {"lease"})}, set), "none");
  EXPECT_EQ(found_in({kInit, detached(99, 1, {"lease"})}, set), "none");
  InventedTable::Row zombie = detached(20, 1, {}, "claude");
  zombie.stat.state = 'Z';
  EXPECT_EQ(found_in({kInit, zombie, detached(99, 1, {"lease"})}, set), "none");
}

TEST(CallerProcess, IsTheShellOfATerminal) {
  EXPECT_EQ(found_in({kInit, on_terminal(10, 1, 10, {"-bash"}), on_terminal(99, 10, 10, {"lease"})}),
            "terminal 10");
  EXPECT_EQ(
      found_in({kInit, on_terminal(10, 1, 10, {"/usr/bin/fish"}), on_terminal(50, 10, 10, {"make"}),
                on_terminal(60, 50, 10, {"/bin/sh", "-c", "lease"}), on_terminal(99, 60, 10, {"lease"})}),
      "terminal 10");
  EXPECT_EQ(found_in({kInit, on_terminal(10, 1, 10, {"bash", "--norc", "cc.sh"}),
                      on_terminal(99, 10, 10, {"lease"})}),
            "terminal 10");
}

TEST(CallerProcess, IsNotTheParent) {
  EXPECT_EQ(found_in({kInit, detached(10, 1, {"cron"}), detached(20, 10, {"sh", "job.sh"}),
                      detached(99, 20, {"lease"})}),
            "none");
}

TEST(CallerProcess, IsNotALeaderThatEndsWithTheCommand) {
  // `xterm -e lease`: the caller leads its session itself.
  EXPECT_EQ(found_in({kInit, detached(10, 1, {"xterm"}), on_terminal(99, 10, 99, {"lease"})}), "none");
  // An agent that nobody knows runs each command on a pseudo-terminal of its own.
  for (const Arguments& shell : {Arguments{"/bin/bash", "-c", "lease"}, Arguments{"bash", "-lc", "lease"},
                                 Arguments{"zsh", "-i", "-c", "lease"}, Arguments{"sh", "-ec", "lease"}}) {
    EXPECT_EQ(found_in({kInit, detached(10, 1, {"agent"}), on_terminal(20, 10, 20, shell),
                        on_terminal(99, 20, 20, {"lease"})}),
              "none")
        << fmt::format("{}", fmt::join(shell, " "));
  }
}

TEST(CallerProcess, IsNotWhoeverHasThePidOfALeaderThatEnded) {
  EXPECT_EQ(found_in({kInit, on_terminal(99, 1, 10, {"lease"})}), "none");
  EXPECT_EQ(found_in({kInit, detached(10, 1, {"bash"}), on_terminal(99, 1, 10, {"lease"})}), "none");
  EXPECT_EQ(found_in({kInit, on_terminal(10, 1, 9, {"bash"}), on_terminal(99, 1, 10, {"lease"})}), "none");
  InventedTable::Row elsewhere = on_terminal(10, 1, 10, {"bash"});
  elsewhere.stat.terminal = kTerminal + 1;
  EXPECT_EQ(found_in({kInit, elsewhere, on_terminal(99, 1, 10, {"lease"})}), "none");
  InventedTable::Row zombie = on_terminal(10, 1, 10, {});
  zombie.stat.state = 'Z';
  EXPECT_EQ(found_in({kInit, zombie, on_terminal(99, 1, 10, {"lease"})}), "none");
  // Its leader is outside of the container.
  EXPECT_EQ(found_in({kInit, on_terminal(99, 1, 0, {"lease"})}), "none");
}

TEST(CallerProcess, IsNoneWhereTheTableIsOdd) {
  EXPECT_EQ(found_in({}), "none");
  EXPECT_EQ(found_in({detached(99, 98, {"lease"})}), "none");
  EXPECT_EQ(found_in({detached(99, 99, {"lease"})}), "none");
  EXPECT_EQ(found_in({detached(98, 99, {"sh"}), detached(99, 98, {"lease"})}), "none");
  EXPECT_EQ(found_in({detached(99, -1, {"lease"})}), "none");
}

TEST(CallerProcess, IsTheFirstProcessOfAContainer) {
  EXPECT_EQ(found_in({detached(1, 0, {"claude"}), detached(99, 1, {"lease"})}), "claude 1");
}

TEST(CallerProcess, ReadsNoMoreThanItNeeds) {
  const InventedTable table = {kInit, detached(10, 1, {"-bash"}), detached(20, 10, {"claude"}),
                               detached(30, 20, {"sh", "-c", "x"}), detached(99, 30, {"lease"})};

  EXPECT_EQ(found_in(table), "claude 20");

  EXPECT_EQ(table.reads, 5);  // The caller, and two for each of its two ancestors.
}

// The real processes below this one; a test may itself be run by an agent.
class Below final : public ProcessTable {
 public:
  explicit Below(pid_t top) : top_(top) {}
  std::optional<ProcessStat> find(pid_t pid) const override {
    return pid == top_ ? std::nullopt : real_.find(pid);
  }
  Arguments arguments(pid_t pid) const override { return real_.arguments(pid); }

 private:
  ProcTable real_;
  pid_t top_;
};

// What a child of this process finds about itself.
std::string found_by_child(pid_t top, const std::map<std::string, std::string>& set = {}) {
  const Child child([&]() -> std::string {
    const auto found = find_caller_process(Below(top), ::getpid(), variables(set));
    if (!found) return "none";
    return fmt::format("{} {}", found->agent.empty() ? "terminal" : found->agent, found->process.pid);
  });
  return child.answer();
}

TEST(CallerProcess, OfARealAgentIsThatAgent) {
  const pid_t top = ::getpid();
  const Child agent([&] {
    ::prctl(PR_SET_NAME, "claude");
    const Child shell([&] {
      ::prctl(PR_SET_NAME, "sh");
      return found_by_child(top);
    });
    return shell.answer();
  });

  EXPECT_EQ(agent.answer(), fmt::format("claude {}", agent.pid()));
}

TEST(CallerProcess, OfARealNamedAncestorIsThatAncestor) {
  const pid_t top = ::getpid();
  const Child agent([&] { return found_by_child(top, {{"CLAUDE_PID", std::to_string(::getpid())}}); });

  EXPECT_EQ(agent.answer(), fmt::format("claude {}", agent.pid()));
}

TEST(CallerProcess, OnARealTerminalIsTheLeader) {
  const pid_t top = ::getpid();
  const Child terminal([&]() -> std::string {
    int control = -1;
    int other = -1;
    if (::openpty(&control, &other, nullptr, nullptr, nullptr) != 0) return "refused";
    // A new session, and its controlling terminal.
    if (::login_tty(other) != 0) return "refused";
    const Child shell([&] { return found_by_child(top); });
    return shell.answer();
  });
  const std::string answer = terminal.answer();
  if (answer == "refused") GTEST_SKIP() << "no pseudo-terminal here";

  EXPECT_EQ(answer, fmt::format("terminal {}", terminal.pid()));
}

TEST(CallerProcess, WithoutATerminalIsNone) {
  const pid_t top = ::getpid();
  const Child session([&] {
    ::setsid();
    const Child shell([&] { return found_by_child(top); });
    return shell.answer();
  });

  EXPECT_EQ(session.answer(), "none");
}

TEST(CallerProcess, IsDescribedAsALeaseRecordsIt) {
  const Machine machine = read_machine();
  const Child agent([&] {
    ::prctl(PR_SET_NAME, "claude");
    const auto expected = process_with_pid(machine, ::getpid());
    const Child caller([&] {
      const auto found = caller_process(machine, [](const char*) -> const char* { return nullptr; });
      return fmt::format("{} {}", expected.has_value(), found == expected);
    });
    return caller.answer();
  });

  EXPECT_EQ(agent.answer(), "true true");
}

TEST(CallerProcess, IsNoneInAProcOfOthers) {
  const InventedProc world;
  const ProcFolder proc(world.proc());
  const Machine machine = {.machine_id = "machine", .boot_id = "boot", .pid_namespace = 1};
  const auto unset = [](const char*) -> const char* { return nullptr; };
  const auto add = [&](pid_t pid, std::string_view comm, pid_t parent) {
    world.file(fmt::format("proc/{}/stat", pid),
               fmt::format("{} ({}) S {} 5 6 0 8 9 10 11 12 13 14 15 16 17 18 19 1 21 2200 23\n", pid, comm,
                           parent));
  };
  add(::getpid(), "lease", 20);
  add(20, "claude", 0);

  EXPECT_EQ(caller_process(machine, unset, proc), (Process{"machine", "boot", 1, 20, 2200}));
  world.set_self(20);
  EXPECT_EQ(caller_process(machine, unset, proc), std::nullopt);
  EXPECT_EQ(caller_process(machine, unset, ProcFolder("/nowhere")), std::nullopt);
}

}  // namespace
}  // namespace leasehold
