// Subagents, and sessions that begin, go on and end.
#include <gtest/gtest.h>

#include "hook/staged_agents.h"

namespace leasehold {
namespace {

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

TEST_F(HookTest, SubagentsAreOwnersOfTheirOwn) {
  EXPECT_EQ(edit("s1", "a", "sub1"), "");
  const std::string denial = edit("s1", "a", "sub2");
  EXPECT_TRUE(mentions(denial, "by claude-code/sub1 of your own session")) << denial;
  EXPECT_FALSE(mentions(denial, "lease acquire")) << "that would be its main agent's, and in its way";
  const std::string of_main = edit("s1", "a");
  EXPECT_TRUE(mentions(of_main, "your subagent sub1's, and comes back to you when that one stops"))
      << of_main;
  EXPECT_FALSE(mentions(of_main, "lease acquire")) << "that would find it to be the session's already";
  EXPECT_EQ(holders("/a"), "claude-code/sub1@s1 ");
  ASSERT_EQ(edit("s1", "b"), "");
  const std::string of_sub = edit("s1", "b", "sub1");
  EXPECT_TRUE(mentions(of_sub, "Your main agent can give it up: lease release b")) << of_sub;

  EXPECT_EQ(tell("s1", "SubagentStop", "sub1"), "");

  EXPECT_EQ(holders("/a"), "claude-code@s1 ") << "what it had is the main agent's now";
}

TEST_F(HookTest, WhatASubagentLeftIsAttendedIfItsMainAgentIsAtWork) {
  const auto is_attended = [&](const std::string& key) {
    return open()->client()->leases({.paths = {key}})->front().attended;
  };
  ASSERT_EQ(edit("s1", "a", "sub1"), "");
  ASSERT_EQ(tell("s1", "SubagentStop", "sub1"), "");
  EXPECT_TRUE(is_attended("/a"));

  ASSERT_EQ(edit("s1", "b", "sub2"), "");
  ASSERT_EQ(tell("s1", "Stop"), "");
  ASSERT_EQ(tell("s1", "SubagentStop", "sub2"), "");
  EXPECT_FALSE(is_attended("/b")) << "its turn stopped before";
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

TEST_F(HookTest, AFailedTurnFreesMoreFilesThanOneCallNames) {
  const auto workspace = open();
  for (int call = 0; call < 2; ++call) {
    AcquireRequest request = {.caller = {.holder = {.owner = {"claude-code", "s1"}}}};
    for (int i = 0; i < 700; ++i) request.paths.push_back({.path = fmt::format("/{}/{}", call, i)});
    ASSERT_TRUE(workspace->client()->acquire(request));
  }
  ASSERT_EQ(workspace->client()->leases()->size(), 1'400U);
  EXPECT_EQ(tell("s1", "StopFailure"), "");
  EXPECT_EQ(workspace->client()->leases()->size(), 0U);
}

TEST_F(HookTest, AFailedToolCallFreesNothing) {
  EXPECT_EQ(edit("s1", "a"), "");
  EXPECT_EQ(tell("s1", "PostToolUseFailure"), "");
  EXPECT_NE(edit("s2", "a"), "");
}

}  // namespace
}  // namespace leasehold
