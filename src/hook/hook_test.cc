// Agents in one folder, as their hooks report them, on a real store.
#include "hook/hook.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hook/staged_report.h"
#include "support/temp_folder.h"

namespace leasehold {
namespace {

class HookTest : public testing::Test {
 protected:
  HookTest() { write(".leasehold.toml", ""); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root() + '/' + name).parent_path());
    std::ofstream(root() + '/' + name) << text;
  }

  std::string root() const { return folder.path(); }

  HookAnswer call(const std::string& payload, HookHost host = HookHost::claude_code) const {
    return HookCall(host, payload, root(), none).answer();
  }

  // What the agent is answered; empty: go on.
  std::string edit(const std::string& session, const std::string& file,
                   const std::string& subagent = "") const {
    return call(fmt::format(
                    R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Edit",
                       "tool_input":{{"file_path":"{}"}}{}}})",
                    session, root(), file.starts_with('/') ? file : root() + '/' + file,
                    subagent.empty() ? "" : fmt::format(R"(,"agent_id":"{}")", subagent)))
        .output;
  }

  std::string patch(const std::string& session, const std::string& files) const {
    std::string text = R"(*** Begin Patch\n)";
    for (const char file : files) text += fmt::format(R"(*** Add File: {}\n+x\n)", file);
    return call(
               fmt::format(
                   R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"apply_patch",
                              "tool_input":{{"command":"{}*** End Patch"}}}})",
                   session, root(), text),
               HookHost::codex)
        .output;
  }

  std::string shell(const std::string& session, const std::string& command) const {
    return call(fmt::format(
                    R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Bash",
                       "tool_input":{{"command":"{}"}}}})",
                    session, root(), command))
        .output;
  }

  std::string tell(const std::string& session, const std::string& event,
                   const std::string& subagent = "") const {
    return call(fmt::format(R"({{"session_id":"{}","cwd":"{}","hook_event_name":"{}"{}}})", session, root(),
                            event, subagent.empty() ? "" : fmt::format(R"(,"agent_id":"{}")", subagent)))
        .output;
  }

  std::unique_ptr<OpenWorkspace> open() const {
    auto opened = open_workspace({.place = root(), .environment = none});
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }

  std::string after(const std::string& session, const std::string& tool, const std::string& file) const {
    return call(fmt::format(
                    R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PostToolUse","tool_name":"{}",
                       "tool_input":{{"file_path":"{}"}}}})",
                    session, root(), tool, root() + '/' + file))
        .output;
  }

  std::string after_shell(const std::string& session, const std::string& command) const {
    return call(report_after_command(
                    {.host = HookHost::claude_code, .session = session, .root = root(), .subagent = {}},
                    command))
        .output;
  }

  // As its tool does: asked, written, reported.
  std::string write_as(const std::string& session, const std::string& file, const std::string& text) const {
    std::string denied = edit(session, file);
    if (!denied.empty()) return denied;
    write(file, text);
    return after(session, "Edit", file);
  }

  // agent@session of each holder.
  std::string holders(const std::string& key) const {
    std::string text;
    const auto leases = open()->client()->leases({.paths = {key}});
    for (const Lease& lease : *leases) {
      text += fmt::format("{}@{} ", lease.holder.owner.agent_id, lease.holder.owner.session_id);
    }
    return text;
  }

  const TempFolder folder;
  const Variables none = [](const char*) -> const char* { return nullptr; };
};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(HookTest, TheSecondAgentIsDeniedAndToldWhy) {
  EXPECT_EQ(edit("s1", "src/a.cc"), "");
  EXPECT_EQ(edit("s1", "src/a.cc"), "") << "again";

  const std::string denial = edit("s2", "src/a.cc");

  EXPECT_TRUE(mentions(denial, R"("permissionDecision":"deny")")) << denial;
  EXPECT_TRUE(mentions(denial, "src/a.cc is leased by claude-code (session s1)")) << denial;
  EXPECT_TRUE(mentions(denial, "lease acquire PATH --wait")) << denial;
  EXPECT_TRUE(mentions(denial, "(in 3m)")) << denial;
  EXPECT_LE(denial.size(), 400U + 120U);
  const std::size_t moment = denial.find("try this write again once, at");
  EXPECT_TRUE(mentions(edit("s2", "src/a.cc"), denial.substr(moment, 43)))
      << "the same gate twice for one call changes nothing";
  EXPECT_EQ(holders("/src/a.cc"), "claude-code@s1 ");
}

TEST_F(HookTest, EveryHostIsKeptFromWritingWhatAnotherHas) {
  write("a", "");
  ASSERT_EQ(edit("s1", "a"), "");
  for (const HookHost host : all_hosts()) {
    const StagedAgent agent = {.host = host, .session = "s2", .root = root(), .subagent = {}};
    for (const std::string& report :
         {report_of_write(agent, root() + "/a"), report_of_command(agent, "echo x >> a")}) {
      const HookAnswer denied = call(report, host);
      EXPECT_TRUE(mentions(denied.reason, "a is leased by claude-code")) << word(host) << report;
      EXPECT_FALSE(denied.output.empty() && denied.complaint.empty()) << word(host);
    }
    EXPECT_FALSE(call(report_of_write(agent, root() + "/own"), host).denies()) << word(host);
    EXPECT_EQ(holders("/own"), fmt::format("{}@s2 ", word(host)));
    ASSERT_TRUE(open()->client()->end_session({.holder = {.owner = {std::string(word(host)), "s2"}}}));
  }
}

TEST_F(HookTest, TheSameCallThroughTwoHostsHooksIsOneOwners) {
  const std::string report =
      fmt::format(R"({{"hook_event_name":"PreToolUse","session_id":"s1","timestamp":"2026-11-15T15:08:06Z",
                      "cwd":"{}","tool_name":"Write","tool_input":{{"path":"{}/a"}}}})",
                  root(), root());
  EXPECT_FALSE(call(report, HookHost::claude_code).denies()) << "Copilot reads Claude Code's settings, too";
  EXPECT_FALSE(call(report, HookHost::copilot).denies());
  EXPECT_EQ(holders("/a"), "copilot@s1 ");
}

TEST_F(HookTest, WhoUsesAToolAfterItsTurnStoppedIsActiveAgain) {
  ASSERT_EQ(edit("s1", "a"), "");
  const auto is_idle = [&] {
    return open()->client()->leases({.paths = {"/a"}})->front().idle_at.has_value();
  };
  for (const char* command : {"true", "touch b"}) {
    ASSERT_EQ(tell("s1", "Stop"), "");
    ASSERT_TRUE(is_idle());

    EXPECT_EQ(shell("s1", command), "");

    EXPECT_FALSE(is_idle()) << command;
  }
  ASSERT_EQ(tell("s1", "Stop"), "");
  EXPECT_EQ(shell("s2", "true"), "");
  EXPECT_TRUE(is_idle()) << "that was another agent";
}

TEST_F(HookTest, TheEndOfASubagentsSessionIsThatOfNoOther) {
  const auto report = [&](const std::string& event, const std::string& subagent, const std::string& file) {
    return call(fmt::format(R"({{"event":"{}","session":"s","subagent":"{}","directory":"{}","tool":"write",
                               "args":{{"filePath":"{}/{}"}}}})",
                            event, subagent, root(), root(), file),
                HookHost::opencode)
        .output;
  };
  ASSERT_EQ(report("tool.execute.before", "", "a"), "");
  ASSERT_EQ(report("tool.execute.before", "j", "b"), "");
  ASSERT_EQ(report("tool.execute.before", "k", "c"), "");
  ASSERT_EQ(holders("/c"), "opencode/k@s ");

  EXPECT_EQ(report("session.deleted", "k", ""), "");

  EXPECT_EQ(holders("/a"), "opencode@s ");
  EXPECT_EQ(holders("/b"), "opencode/j@s ");
  EXPECT_EQ(holders("/c"), "");
}

TEST_F(HookTest, ACommandMayNameMoreFilesThanOneRequest) {
  for (int i = 0; i < 1'500; ++i) write(fmt::format("o/{}.o", i), "");
  EXPECT_EQ(shell("s1", "rm o/*.o"), "");
  ASSERT_EQ(edit("s2", "o/777.o"), "");
  EXPECT_TRUE(mentions(shell("s1", "rm o/*.o"), "o/777.o"));
}

TEST_F(HookTest, SubagentsAreOwnersOfTheirOwn) {
  EXPECT_EQ(edit("s1", "a", "sub1"), "");
  const std::string denial = edit("s1", "a", "sub2");
  EXPECT_TRUE(mentions(denial, "by claude-code/sub1 of your own session")) << denial;
  EXPECT_FALSE(mentions(denial, "lease acquire")) << "that would be its main agent's, and in its way";
  EXPECT_NE(edit("s1", "a"), "");
  EXPECT_EQ(holders("/a"), "claude-code/sub1@s1 ");

  EXPECT_EQ(tell("s1", "SubagentStop", "sub1"), "");

  EXPECT_EQ(holders("/a"), "claude-code@s1 ") << "what it had is the main agent's now";
}

TEST_F(HookTest, ASubagentThatGoesOnHasItsFilesAgain) {
  write("src/foo.ts", "");
  write("tests/foo.test.ts", "");
  ASSERT_EQ(edit("s1", "src/foo.ts", "sub1"), "");
  ASSERT_EQ(tell("s1", "SubagentStop", "sub1"), "");
  ASSERT_EQ(holders("/src/foo.ts"), "claude-code@s1 ");

  EXPECT_EQ(edit("s1", "src/foo.ts", "sub1"), "");

  EXPECT_EQ(holders("/src/foo.ts"), "claude-code/sub1@s1 ");
  EXPECT_EQ(holders("/tests/foo.test.ts"), "claude-code/sub1@s1 ") << "with what goes with it";
  EXPECT_NE(edit("s1", "src/foo.ts"), "") << "so its main agent has not";
  ASSERT_EQ(tell("s1", "SubagentStop", "sub1"), "");
  EXPECT_EQ(write_as("s1", "src/foo.ts", "x"), "") << "until it stops again";
  EXPECT_EQ(edit("s1", "src/foo.ts", "sub1"), "") << "as often as it goes on";
}

TEST_F(HookTest, AMainAgentIsToldThatItsSubagentTookAFileBack) {
  write("a", "one");
  ASSERT_EQ(edit("s1", "a", "sub1"), "");
  ASSERT_EQ(tell("s1", "SubagentStop", "sub1"), "");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(edit("s1", "a", "sub1"), "");

  const std::string told = edit("s1", "a");
  EXPECT_TRUE(mentions(told, "claude-code/sub1 goes on")) << told;
  const std::string again = edit("s1", "a");
  EXPECT_TRUE(mentions(again, "leased by claude-code/sub1 of your own session")) << again;
}

TEST_F(HookTest, WhatItsSubagentGaveBackAMainAgentWritesAtOnce) {
  ASSERT_EQ(edit("s1", "a", "sub1"), "");
  ASSERT_EQ(tell("s1", "SubagentStop", "sub1"), "");
  ASSERT_EQ(edit("s1", "a", "sub1"), "");
  ASSERT_EQ(tell("s1", "SubagentStop", "sub1"), "");
  EXPECT_EQ(edit("s1", "a"), "");
}

TEST_F(HookTest, WhatASubagentLeftIsNoOtherAgents) {
  ASSERT_EQ(edit("s1", "a", "sub1"), "");
  ASSERT_EQ(tell("s1", "SubagentStop", "sub1"), "");
  EXPECT_TRUE(mentions(edit("s1", "a", "sub2"), "by claude-code of your own session"));
  EXPECT_NE(edit("s2", "a", "sub1"), "") << "another session's agent may have the same id";
  EXPECT_EQ(edit("s1", "a"), "") << "its main agent, as which it may go on";
  EXPECT_NE(edit("s1", "a", "sub1"), "") << "which is just writing it";
  EXPECT_EQ(after("s1", "Edit", "a"), "");
  EXPECT_EQ(holders("/a"), "claude-code@s1 ");
}

TEST_F(HookTest, WhatItsMainAgentTookByItselfIsNotASubagents) {
  ASSERT_EQ(edit("s1", "a", "sub1"), "");
  ASSERT_EQ(tell("s1", "SubagentStop", "sub1"), "");
  ASSERT_EQ(edit("s1", "b"), "");
  EXPECT_NE(edit("s1", "b", "sub1"), "");
  ASSERT_TRUE(open()->client()->release(
      {.caller = {.holder = {.owner = {"claude-code", "s1"}}}, .which = {.paths = {"/a"}}}));
  ASSERT_EQ(edit("s1", "a"), "");
  EXPECT_NE(edit("s1", "a", "sub1"), "") << "it is another lease";
}

TEST_F(HookTest, APatchIsLetThroughAsAWholeOrNotAtAll) {
  EXPECT_EQ(edit("s1", "b"), "");
  EXPECT_NE(patch("s2", "abc"), "");
  EXPECT_EQ(holders("/a"), "");
  EXPECT_EQ(holders("/c"), "");
  EXPECT_EQ(patch("s2", "ac"), "");
  EXPECT_EQ(holders("/c"), "codex@s2 ");
}

TEST_F(HookTest, EachFileOfALargePatchIsTaken) {
  std::string names;
  for (char c = '0'; c < '0' + 70; ++c) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) names += c;
  }
  ASSERT_GT(names.size(), 50U);
  EXPECT_EQ(patch("s2", names), "");
  EXPECT_EQ(holders(std::string("/") + names.back()), "codex@s2 ");
}

TEST_F(HookTest, ACommandLineIsGatedLikeAWrite) {
  write("a", "");
  EXPECT_EQ(edit("s1", "a"), "");

  EXPECT_TRUE(mentions(shell("s2", "sed -i s/x/y/ a"), "a is leased by claude-code"));
  EXPECT_TRUE(mentions(shell("s2", "cd sub; echo x > ../a; ls"), "a is leased"))
      << "where the folder is not there";
  EXPECT_EQ(shell("s1", "echo x >> a"), "") << "its own";
  EXPECT_EQ(shell("s2", "cat a > b"), "") << "it only reads it";
  EXPECT_EQ(holders("/b"), "claude-code@s2 ");
  EXPECT_NE(edit("s1", "b"), "");
}

TEST_F(HookTest, WhatACommandLineDoesUnseenGoesOn) {
  EXPECT_EQ(edit("s1", "a"), "");
  EXPECT_EQ(shell("s2", "python3 -c 'open(1)'"), "");
  EXPECT_EQ(shell("s2", "echo 'unclosed"), "");
  EXPECT_NE(shell("s2", "./script && rm a"), "") << "but what is seen is seen";
}

TEST_F(HookTest, AWholeFolderIsLookedAtAndNotTaken) {
  write("d/a.md", "");
  EXPECT_EQ(shell("s1", "rm -rf d"), "");
  EXPECT_EQ(shell("s1", "git checkout other"), "");
  EXPECT_EQ(holders("/d"), "");

  EXPECT_EQ(edit("s1", "d/a.md"), "");

  EXPECT_EQ(shell("s1", "rm -rf d"), "");
  EXPECT_TRUE(mentions(shell("s2", "rm -rf d"), "d/a.md is leased"));
  EXPECT_TRUE(mentions(shell("s3", "git stash"), "d/a.md is leased"));
  EXPECT_TRUE(mentions(shell("s4", "rm -rf .."), "d/a.md is leased")) << "what is around the workspace";
  EXPECT_EQ(shell("s5", "find d -name '*.txt' -delete"), "");
  EXPECT_EQ(shell("s5", "find . -type d -name target -exec rm -rf {} +"), "");
  EXPECT_TRUE(mentions(shell("s6", "find . -type d -name d -exec rm -rf {} +"), "d/a.md is leased"));
  EXPECT_TRUE(mentions(shell("s5", "find d -name '*.md' -delete"), "d/a.md is leased"));
}

TEST_F(HookTest, ManyFilesAreLookedAtAndNotTaken) {
  EXPECT_EQ(shell("s1", "touch f{1..200}"), "");
  EXPECT_EQ(holders("/f7"), "");
  EXPECT_EQ(edit("s1", "f7"), "");
  EXPECT_TRUE(mentions(shell("s2", "touch f{1..200}"), "f7 is leased"));
}

TEST_F(HookTest, WhatACommandDidUnseenToAnothersFileIsNoticed) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  EXPECT_EQ(after_shell("s2", "make"), "") << "nothing happened";

  ASSERT_EQ(shell("s2", "make"), "");
  write("a", "three");
  const std::string remark = after_shell("s2", "make");

  EXPECT_TRUE(mentions(remark, R"("additionalContext":"Changed while your command ran)")) << remark;
  EXPECT_TRUE(mentions(remark, "a (leased by claude-code)")) << remark;
  const auto events = open()->client()->history({.path = "/a"});
  ASSERT_TRUE(events);
  EXPECT_EQ(events->back().owner.session_id, "s2");
  EXPECT_TRUE(mentions(events->back().reason, "changed while a command of its ran ("))
      << events->back().reason;
  EXPECT_TRUE(mentions(events->back().reason, "); held by claude-code")) << events->back().reason;

  const std::string told = edit("s1", "a");
  EXPECT_TRUE(mentions(told, "a was changed by claude-code")) << "its holder learns it, too: " << told;
  EXPECT_EQ(edit("s1", "a"), "") << "once";
}

TEST_F(HookTest, WhatACommandDidIsNoticedWhereverItsShellWentMeanwhile) {
  const TempFolder elsewhere;
  const StagedAgent gone = {
      .host = HookHost::claude_code, .session = "s2", .root = elsewhere.path(), .subagent = {}};
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s2", "make && cd " + elsewhere.path()), "");
  write("a", "three");
  EXPECT_TRUE(mentions(call(report_after_command(gone, "make")).output, "a (leased by claude-code)"));

  // It is still there when the next one begins, and the hook was started there, too.
  const Variables known = [&](const char* name) -> const char* {
    return std::string_view(name) == "CLAUDE_PROJECT_DIR" ? folder.path().c_str() : nullptr;
  };
  const auto call_there = [&](const std::string& report) {
    return HookCall(HookHost::claude_code, report, elsewhere.path(), known).answer().output;
  };
  ASSERT_EQ(call_there(report_of_command(gone, root() + "/script")), "");
  write("a", "four");
  EXPECT_TRUE(
      mentions(call_there(report_after_command(gone, root() + "/script")), "a (leased by claude-code)"));
}

TEST_F(HookTest, GoingRoundADenialIsRecordedEachTime) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_NE(edit("s2", "a"), "");
  const auto recorded = [&] {
    const auto events = open()->client()->history({.path = "/a"});
    return std::count_if(events->begin(), events->end(), [](const Event& event) {
      return mentions(event.reason, "changed while a command of its ran");
    });
  };
  for (int times = 1; times <= 2; ++times) {
    ASSERT_EQ(shell("s2", "make"), "");
    write("a", "three" + std::to_string(times));
    EXPECT_NE(after_shell("s2", "make"), "");
    EXPECT_EQ(recorded(), times);
  }
}

TEST_F(HookTest, CommandsThatOverlapOrEndUnreportedAreLookedAt) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  write("a", "three");
  ASSERT_EQ(shell("s2", "ls"), "");
  EXPECT_TRUE(mentions(after_shell("s2", "ls"), "a (leased by claude-code)"));
}

TEST_F(HookTest, WhatItsHolderMayHaveDoneIsNobodyElses) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s1", "make"), "");
  ASSERT_EQ(shell("s2", "ls"), "");
  write("a", "three");
  EXPECT_EQ(after_shell("s2", "ls"), "");
}

TEST_F(HookTest, ASessionEndsInEveryTreeItWroteTo) {
  write("inner/.leasehold.toml", "");
  ASSERT_EQ(edit("s1", "a"), "");
  ASSERT_EQ(edit("s1", "inner/b"), "");
  ASSERT_EQ(edit("s1", "inner/c", "sub"), "");
  EXPECT_TRUE(mentions(edit("s2", "inner/b"), "inner: b is leased by"));
  ASSERT_NE(edit("s2", "inner/c"), "");
  ASSERT_EQ(tell("s1", "SessionEnd"), "");
  EXPECT_EQ(edit("s3", "a"), "");
  EXPECT_EQ(edit("s3", "inner/b"), "");
  EXPECT_EQ(edit("s3", "inner/c"), "");
}

TEST_F(HookTest, ALongReasonDoesNotHideWhatToDo) {
  ASSERT_EQ(edit("s1", "a"), "");
  ASSERT_TRUE(open()->client()->force_release(
      {.actor = "olga", .which = {.paths = {"/a"}}, .reason = std::string(300, 'x')}));
  const std::string told = edit("s1", "a");
  EXPECT_TRUE(mentions(told, "read it again before you write.")) << told;
}

TEST_F(HookTest, ATestInTheWayIsNamedWithItsSource) {
  write("src/a.ts", "");
  write("src/a.test.ts", "");
  ASSERT_EQ(edit("s1", "src/a.test.ts"), "");
  EXPECT_TRUE(mentions(edit("s2", "src/a.ts"), "src/a.test.ts (it goes with src/a.ts) is leased by"));
}

TEST_F(HookTest, AFileThatIsGoneWithItsFolderIsNoticed) {
  write("src/a", "one");
  ASSERT_EQ(write_as("s1", "src/a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  std::filesystem::remove_all(root() + "/src");
  EXPECT_TRUE(mentions(after_shell("s2", "make"), "src/a (leased by claude-code)"));
}

TEST_F(HookTest, WhatItsHolderWroteMeanwhileIsNobodyElsesDoing) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  ASSERT_EQ(write_as("s1", "a", "three"), "");
  EXPECT_EQ(after_shell("s2", "make"), "");

  ASSERT_EQ(shell("s2", "make"), "");
  ASSERT_EQ(edit("s1", "a"), "");
  write("a", "four");
  EXPECT_EQ(after_shell("s2", "make"), "") << "it is just at it";
  ASSERT_EQ(shell("s1", "make"), "");
  write("a", "five");
  EXPECT_EQ(after_shell("s1", "make"), "") << "by a command of its own";
  EXPECT_EQ(edit("s1", "a"), "");
}

TEST_F(HookTest, AFileThatAnotherChangedSinceItWasSeenIsReadAgainFirst) {
  write("a", "one");
  ASSERT_EQ(edit("s3", "other"), "") << "there is a store";
  EXPECT_EQ(after("s1", "Read", "a"), "");
  ASSERT_EQ(write_as("s2", "a", "two"), "");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");

  const std::string told = edit("s1", "a");

  EXPECT_TRUE(mentions(told, "a was changed by claude-code at 2")) << told;
  EXPECT_TRUE(mentions(told, "Read it again")) << told;
  EXPECT_EQ(holders("/a"), "claude-code@s1 ") << "nobody takes it meanwhile";
  EXPECT_EQ(edit("s1", "a"), "") << "it is told once";
}

TEST_F(HookTest, WhenAFileWasTakenAwayIsToldToo) {
  write("a", "one");
  ASSERT_EQ(edit("s3", "other"), "");
  EXPECT_EQ(after("s1", "Read", "a"), "");
  ASSERT_EQ(edit("s2", "a"), "");
  std::filesystem::remove(root() + "/a");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");

  const std::string told = edit("s1", "a");

  EXPECT_TRUE(mentions(told, "a was changed by claude-code at 2")) << told;
}

TEST_F(HookTest, AProjectMayDoWithoutReadingAgain) {
  write(".leasehold.toml", "gate_stale_read = false\n");
  write("a", "one");
  ASSERT_EQ(edit("s3", "other"), "");
  EXPECT_EQ(after("s1", "Read", "a"), "");
  ASSERT_EQ(write_as("s2", "a", "two"), "");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");
  EXPECT_EQ(edit("s1", "a"), "");
}

TEST_F(HookTest, AFileThatWasReadAgainIsWrittenAtOnce) {
  write("a", "one");
  ASSERT_EQ(edit("s3", "other"), "");
  EXPECT_EQ(after("s1", "Read", "a"), "");
  ASSERT_EQ(write_as("s2", "a", "two"), "");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");
  EXPECT_EQ(after("s1", "Read", "a"), "");
  EXPECT_EQ(edit("s1", "a"), "");
}

TEST_F(HookTest, WhatNoOtherOwnerChangedIsNoMatter) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  write("a", "three");
  EXPECT_EQ(edit("s1", "a"), "") << "a person's editor, or its own shell";

  write("b", "one");
  EXPECT_EQ(after("s1", "Read", "b"), "");
  ASSERT_EQ(edit("s2", "b"), "");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");
  EXPECT_EQ(edit("s1", "b"), "") << "held, but not changed";
}

TEST_F(HookTest, ASessionThatGoesOnIsToldWhatItHas) {
  EXPECT_EQ(tell("s1", "SessionStart"), "") << "there is not even a store";
  ASSERT_EQ(edit("s1", "src/a.ts"), "");
  EXPECT_EQ(tell("s2", "SessionStart"), "") << "a new one has nothing";
  EXPECT_EQ(tell("s1", "SubagentStart", "sub1"), "");
  ASSERT_EQ(tell("s1", "Stop"), "");
  ASSERT_TRUE(open()->client()->leases()->front().idle_at);

  const std::string told = tell("s1", "SessionStart");

  EXPECT_TRUE(
      mentions(told, R"("hookEventName":"SessionStart","additionalContext":"This session holds src/a.ts.)"))
      << told;
  EXPECT_FALSE(open()->client()->leases()->front().idle_at) << "and it is at work again";
  for (int i = 0; i < 9; ++i) ASSERT_EQ(edit("s1", std::string(80, 'x') + std::to_string(i)), "");
  EXPECT_LT(tell("s1", "SessionStart").size(), 400U + 100U);
}

TEST_F(HookTest, TheEndOfASessionFreesItsFiles) {
  EXPECT_EQ(edit("s1", "a"), "");
  EXPECT_EQ(edit("s1", "b", "sub"), "");
  EXPECT_EQ(tell("s1", "SessionEnd"), "");
  EXPECT_EQ(edit("s2", "a"), "");
  EXPECT_EQ(edit("s2", "b"), "");
}

TEST_F(HookTest, AFailedTurnFreesItsFiles) {
  EXPECT_EQ(edit("s1", "a"), "");
  EXPECT_EQ(tell("s1", "StopFailure"), "");
  EXPECT_EQ(edit("s2", "a"), "");
}

TEST_F(HookTest, AFailedToolCallFreesNothing) {
  EXPECT_EQ(edit("s1", "a"), "");
  EXPECT_EQ(tell("s1", "PostToolUseFailure"), "");
  EXPECT_NE(edit("s2", "a"), "");
}

TEST_F(HookTest, TestsOfASourceComeAlong) {
  write("src/foo.ts", "");
  write("tests/foo.test.ts", "");
  EXPECT_EQ(edit("s1", "src/foo.ts"), "");
  EXPECT_NE(edit("s2", "tests/foo.test.ts"), "");
}

TEST_F(HookTest, OutsideAndUnmanagedFoldersAreNoneOfOurBusiness) {
  const TempFolder other;
  EXPECT_EQ(edit("s1", other.path() + "/x"), "");
  EXPECT_EQ(edit("s2", other.path() + "/x"), "");
  EXPECT_FALSE(std::filesystem::exists(other.path() + "/.leasehold")) << "and nothing is made there";
}

TEST_F(HookTest, WhatCannotBeCheckedIsNotWritten) {
  write(".leasehold", "a file where the store should be");
  const std::string denial = edit("s1", "a");
  EXPECT_TRUE(mentions(denial, "Not checked, so not written")) << denial;
  EXPECT_NE(call("{ not json").output, "");
  EXPECT_EQ(tell("s1", "Stop"), "") << "but only writes are kept back";

  write(".leasehold.toml", "gate_fail_open = true\n");

  EXPECT_EQ(edit("s1", "a"), "");
  EXPECT_EQ(call("{ not json").output, "");
}

// Every event of every host that cannot be denied, without the session that it should name.
TEST_F(HookTest, WhatCannotBeDeniedIsAnsweredBySilence) {
  const std::pair<HookHost, std::string> reports[] = {
      {HookHost::claude_code, R"({"hook_event_name":"UserPromptSubmit"})"},
      {HookHost::claude_code, R"({"hook_event_name":"Stop"})"},
      {HookHost::claude_code, R"({"hook_event_name":"StopFailure"})"},
      {HookHost::claude_code, R"({"hook_event_name":"SubagentStop"})"},
      {HookHost::claude_code, R"({"hook_event_name":"SessionEnd","session_id":7})"},
      {HookHost::claude_code, R"({"hook_event_name":"SomethingNew"})"},
      {HookHost::claude_code, R"({"hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{}})"},
      {HookHost::claude_code,
       R"({"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"}})"},
      {HookHost::claude_code,
       R"({"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"}})"},
      {HookHost::codex, R"({"hook_event_name":"Stop"})"},
      {HookHost::gemini, R"({"hook_event_name":"AfterAgent"})"},
      {HookHost::copilot, R"({"hook_event_name":"SessionEnd"})"},
      {HookHost::cursor, R"({"hook_event_name":"stop"})"},
      {HookHost::opencode, R"({"event":"session.idle"})"},
      {HookHost::windsurf, R"({"agent_action_name":"post_cascade_response"})"},
      {HookHost::cline, R"({"hookName":"TaskCancel"})"},
  };
  for (const auto& [host, report] : reports) {
    const HookAnswer answer = call(report, host);
    EXPECT_EQ(answer.output + answer.complaint, "") << word(host) << report;
    EXPECT_EQ(answer.exit_status, 0) << word(host) << report;
  }
}

TEST_F(HookTest, AWriteThatNamesNoSessionIsDeniedInItsHostsShape) {
  for (const HookHost host : all_hosts()) {
    const std::string report =
        report_of_write({.host = host, .session = "", .root = root(), .subagent = {}}, root() + "/a");
    const HookAnswer answer = call(report, host);
    EXPECT_TRUE(mentions(answer.reason, "names no session")) << word(host) << report;
    EXPECT_FALSE(answer.output.empty() && answer.complaint.empty()) << word(host);
  }
}

TEST_F(HookTest, HalfACharacterInANameIsAnsweredByThePolicyInEveryDialect) {
  for (const HookHost host : all_hosts()) {
    const StagedAgent agent = {.host = host, .session = "s", .root = root(), .subagent = {}};
    for (std::string report :
         {report_of_write(agent, root() + "/aHALF"), report_of_command(agent, "echo x > HALF")}) {
      report.replace(report.find("HALF"), 4, R"(\ud800)");

      const HookAnswer denied = call(report, host);

      EXPECT_TRUE(mentions(denied.reason, "lone surrogate")) << word(host) << denied.reason;
      const HookAnswer form = denial(host, "PreToolUse", "");
      EXPECT_EQ(denied.exit_status, form.exit_status) << word(host) << " says no in its own way";
      EXPECT_EQ(denied.output.empty(), form.output.empty()) << word(host);
    }
  }
  write(".leasehold.toml", "gate_fail_open = true\n");
  EXPECT_EQ(edit("s", R"(a\ud800)"), "");
}

TEST_F(HookTest, ReadsAreGatedOnlyIfTheProjectWantsIt) {
  const auto read = [&](const std::string& session) {
    return call(fmt::format(
                    R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Read",
                              "tool_input":{{"file_path":"{}/a"}}}})",
                    session, root(), root()))
        .output;
  };
  EXPECT_EQ(edit("s1", "a"), "");
  EXPECT_EQ(read("s2"), "");
  write(".leasehold.toml", "gate_reads = true\n");
  EXPECT_TRUE(mentions(read("s2"), "Not to be read now")) << read("s2");
  EXPECT_EQ(read("s1"), "");
}

TEST_F(HookTest, ALateAnswerDeniesWritesOnly) {
  const std::string write_payload =
      R"({"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a"}})";
  EXPECT_TRUE(
      mentions(HookCall(HookHost::codex, write_payload, root(), none).late_answer().output, "in time"));
  EXPECT_FALSE(HookCall(HookHost::codex, R"({"session_id":"s","hook_event_name":"Stop"})", root(), none)
                   .late_answer()
                   .denies());
}

}  // namespace
}  // namespace leasehold
