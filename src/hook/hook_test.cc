// What agents are answered before they write, whichever host reports it.
#include <gtest/gtest.h>

#include "hook/staged_agents.h"

namespace leasehold {
namespace {

TEST_F(HookTest, TheSecondAgentIsDeniedAndToldWhy) {
  EXPECT_EQ(edit("s1", "src/a.cc"), "");
  EXPECT_EQ(edit("s1", "src/a.cc"), "") << "again";

  const std::string denial = edit("s2", "src/a.cc");

  EXPECT_TRUE(mentions(denial, R"("permissionDecision":"deny")")) << denial;
  EXPECT_TRUE(mentions(denial, "src/a.cc is leased by claude-code (session s1)")) << denial;
  EXPECT_TRUE(mentions(denial, "lease acquire src/a.cc --wait 5m")) << denial;
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

TEST_F(HookTest, APatchIsLetThroughAsAWholeOrNotAtAll) {
  EXPECT_EQ(edit("s1", "b"), "");
  EXPECT_NE(patch("s2", "abc"), "");
  EXPECT_EQ(holders("/a"), "");
  EXPECT_EQ(holders("/c"), "");
  EXPECT_EQ(patch("s2", "ac"), "");
  EXPECT_EQ(holders("/c"), "codex@s2 ");
}

TEST_F(HookTest, TheTreeOfAFileElsewhereIsNamedAsItIs) {
  const TempFolder elsewhere;
  ASSERT_EQ(edit("s1", "a"), "");

  const std::string denial =
      call(fmt::format(R"({{"session_id":"s2","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Write",
                           "tool_input":{{"file_path":"{}/a"}}}})",
                       elsewhere.path(), root()))
          .output;

  ASSERT_LE(root().size(), 40U) << "it would be cut";
  EXPECT_TRUE(mentions(denial, "In " + root() + ": a is leased by")) << denial;
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

TEST_F(HookTest, ALongPathDoesNotHideWhatToDoAboutWhatCannotBeChecked) {
  const std::string deep = std::string(200, 'd') + "/\xc3\xa9\xc3\xa9" + std::string(120, 'e');
  write(deep + "/.leasehold.toml", "");
  write(deep + "/.leasehold", "a file where the store should be");
  const std::string reason =
      call(report_of_write(
               {.host = HookHost::claude_code, .session = "s1", .root = root() + '/' + deep, .subagent = {}},
               "a"))
          .reason;
  EXPECT_TRUE(mentions(reason, "Not checked, so not written: ...")) << reason;
  EXPECT_TRUE(mentions(reason, "e/.leasehold is a file")) << reason;
  EXPECT_TRUE(mentions(reason, "Move it away. (Mend that first.)")) << reason;
  EXPECT_EQ(reason.size(), 390U);
}

TEST_F(HookTest, APathIsWhatItsHostTakesItFor) {
  const Variables home = [&](const char* name) -> const char* {
    return std::string_view(name) == "HOME" ? folder.path().c_str() : nullptr;
  };
  for (const std::string& path : {std::string("~/a b"), "file://" + root() + "/a%20b"}) {
    const std::string report = fmt::format(
        R"({{"session_id":"s1","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"NotebookEdit",
           "tool_input":{{"notebook_path":"{}"}}}})",
        root(), path);
    EXPECT_EQ(HookCall(HookHost::claude_code, report, root(), home).answer().output, "");
    EXPECT_EQ(holders("/a b"), "claude-code@s1 ") << path;
    ASSERT_TRUE(open()->client()->release(
        {.caller = {.holder = {.owner = {"claude-code", "s1"}}}, .which = {.all = true}}));
  }
}

TEST_F(HookTest, AMistakeInTheSettingsCanBeMended) {
  for (const char* const mistake : {"gate_fail_open = true\nttl = \"5 minuts\"\n", "ttl = = 5\n"}) {
    write(".leasehold.toml", mistake);
    const std::string denial = edit("s1", "a");
    EXPECT_TRUE(mentions(denial, root() + "/.leasehold.toml:")) << denial;
    EXPECT_TRUE(mentions(denial, "Mend that line first")) << denial;
    EXPECT_FALSE(mentions(denial, "gate_fail_open")) << denial;
    EXPECT_EQ(edit("s1", ".leasehold.toml"), "") << mistake;
    EXPECT_EQ(shell("s1", "sed -i s/x/y/ .leasehold.toml"), "") << mistake;
    EXPECT_NE(shell("s1", "sed -i s/x/y/ .leasehold.toml a"), "") << mistake;

    const Variables open = [](const char* name) -> const char* {
      return std::string_view(name) == "LEASE_GATE_FAIL_OPEN" ? "true" : nullptr;
    };
    const std::string report = report_of_write(
        {.host = HookHost::claude_code, .session = "s1", .root = root(), .subagent = {}}, root() + "/a");
    EXPECT_EQ(HookCall(HookHost::claude_code, report, root(), open).answer().output, "") << mistake;
  }
}

TEST_F(HookTest, AProjectThatCanBeReadHasTheLastWordOnWhatCannotBeChecked) {
  write(".leasehold.toml", "store = \"http://127.0.0.1:9\"\ngate_fail_open = false\n");
  write("user/leasehold/config.toml", "gate_fail_open = true\n");
  const std::string user = folder.path() + "/user";
  const Variables variables = [&](const char* name) -> const char* {
    if (std::string_view(name) == "XDG_CONFIG_HOME") return user.c_str();
    return std::string_view(name) == "LEASE_TOKEN" ? "secret" : nullptr;
  };
  const auto denial_of = [&](const std::string& file) {
    const std::string report = report_of_write(
        {.host = HookHost::claude_code, .session = "s1", .root = root(), .subagent = {}}, root() + file);
    return HookCall(HookHost::claude_code, report, root(), variables).answer().output;
  };

  const std::string denial = denial_of("/a");
  EXPECT_TRUE(mentions(denial, "export LEASE_TOKEN_FOR=http://127.0.0.1:9 (Mend that first.)")) << denial;
  EXPECT_TRUE(mentions(denial_of("/.leasehold.toml"), "Mend that first")) << "no line of it is wrong";

  write(".leasehold.toml", "store = \"http://127.0.0.1:9\"\n");
  EXPECT_EQ(denial_of("/a"), "");
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
  ASSERT_EQ(edit("s1", "b"), "");
  const std::string late = HookCall(HookHost::codex, write_payload, root(), none).late_answer().output;
  EXPECT_TRUE(mentions(late, "fuser -v " + root() + "/.leasehold/gate")) << late;
  EXPECT_FALSE(HookCall(HookHost::codex, R"({"session_id":"s","hook_event_name":"Stop"})", root(), none)
                   .late_answer()
                   .denies());
}

}  // namespace
}  // namespace leasehold
