// What happened to an agent's leases behind its back, told at the next moment its host has a place for it.
#include <gtest/gtest.h>

#include "hook/session_keeper.h"
#include "hook/staged_agents.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

class HookNews : public HookTest {
 protected:
  void hand_over(const std::string& file, const Owner& to) const {
    const auto workspace = open();
    const Caller giver = {.holder = {.owner = {"giver", "gg"}}};
    ASSERT_TRUE(workspace->client()->acquire({.caller = giver, .paths = {{.path = file}}}));
    ASSERT_TRUE(workspace->client()->transfer({.caller = giver,
                                               .which = {.paths = {file}},
                                               .to = {.owner = to},
                                               .note = "finish the French part"}));
  }

  void recall(const std::string& file) const {
    const auto done = open()->client()->force_release(
        {.actor = "olga", .which = {.paths = {file}}, .reason = "need", .recall = 60s});
    ASSERT_TRUE(done && !done->outcomes.front().error);
  }

  std::size_t untold(const Owner& owner) const {
    const auto checked = open()->client()->check({.holder = {.owner = owner}}, "/", Token{});
    return checked ? checked->notices.size() : 99;
  }
};

constexpr const char* kNote = R"(/h comes from giver: \"finish the French part\".)";

TEST_F(HookNews, AnAllowedWriteTellsWhatWasHandedOver) {
  hand_over("/h", {"claude-code", "s1"});

  const std::string told = edit("s1", "b");

  EXPECT_TRUE(mentions(told, R"("hookEventName":"PreToolUse","additionalContext":)")) << told;
  EXPECT_TRUE(mentions(told, kNote)) << told;
  EXPECT_FALSE(mentions(told, "permissionDecision")) << told;
  EXPECT_EQ(edit("s1", "b"), "") << "once";
  EXPECT_EQ(holders("/b"), "claude-code@s1 ");
}

TEST_F(HookNews, SoDoPromptsCommandsAndSessionsThatGoOn) {
  hand_over("/h", {"claude-code", "s1"});
  EXPECT_TRUE(mentions(tell("s1", "UserPromptSubmit"), kNote));
  EXPECT_EQ(tell("s1", "UserPromptSubmit"), "");

  hand_over("/i", {"claude-code", "s1"});
  ASSERT_EQ(shell("s1", "true"), "") << "it writes nothing, so the gate is not asked";
  EXPECT_TRUE(mentions(after_shell("s1", "true"), "/i comes from giver"));

  hand_over("/j", {"claude-code", "s1"});
  EXPECT_TRUE(mentions(tell("s1", "SessionStart"), "/j comes from giver"));
  EXPECT_EQ(edit("s1", "j"), "");
}

TEST_F(HookNews, WhatIsAskedBackIsToldWhileItIsStillHeld) {
  ASSERT_EQ(edit("s1", "a"), "");
  recall("/a");

  const std::string told = edit("s1", "b");

  EXPECT_TRUE(mentions(told, R"(/a is asked back by olga: \"need\". It ends in )")) << told;
  EXPECT_TRUE(mentions(told, "release it when you can")) << told;
  EXPECT_EQ(edit("s1", "a"), "") << "it can still be written";
}

TEST_F(HookNews, ADenialTellsItToo) {
  ASSERT_EQ(edit("s2", "a"), "");
  hand_over("/h", {"claude-code", "s1"});

  const std::string told = edit("s1", "a");

  EXPECT_TRUE(mentions(told, R"("permissionDecision":"deny")")) << told;
  EXPECT_TRUE(mentions(told, kNote)) << told;
}

TEST_F(HookNews, WhoHasNoPlaceForItBeforeAToolIsToldAfterIt) {
  for (const HookHost host : {HookHost::gemini, HookHost::copilot, HookHost::cursor, HookHost::opencode}) {
    const StagedAgent agent = {.host = host, .session = "s1", .root = root(), .subagent = {}};
    const std::string name(word(host));
    const std::string file = root() + "/of-" + name;
    hand_over("/h-" + name, {name, "s1"});

    const std::string before = call(report_of_write(agent, file), host).output;
    const std::string after = call(report_after_write(agent, file), host).output;

    EXPECT_FALSE(mentions(before, "comes from")) << name << before;
    EXPECT_TRUE(mentions(after, "comes from giver")) << name << after;
    EXPECT_FALSE(mentions(call(report_after_write(agent, file), host).output, "giver")) << name << " once";
  }
}

TEST_F(HookNews, OthersAreToldAtTheWrite) {
  for (const HookHost host : {HookHost::codex, HookHost::cline}) {
    const StagedAgent agent = {.host = host, .session = "s1", .root = root(), .subagent = {}};
    const std::string name(word(host));
    hand_over("/h-" + name, {name, "s1"});

    const HookAnswer answer = call(report_of_write(agent, root() + "/of-" + name), host);

    EXPECT_FALSE(answer.denies()) << name;
    EXPECT_EQ(answer.exit_status, 0) << name;
    EXPECT_TRUE(mentions(answer.output, "comes from giver")) << name << answer.output;
  }
}

TEST_F(HookNews, WhoHasNoPlaceForItAtAllLosesNothing) {
  const StagedAgent agent = {.host = HookHost::windsurf, .session = "s1", .root = root(), .subagent = {}};
  hand_over("/h", {"windsurf", "s1"});

  EXPECT_EQ(call(report_of_write(agent, root() + "/a"), agent.host).output, "");
  EXPECT_EQ(call(report_after_write(agent, root() + "/a"), agent.host).output, "");

  // Nor does it when a command of its wrote another's file.
  write("b", "");
  ASSERT_EQ(edit("s2", "b"), "");
  ASSERT_EQ(after("s2", "Edit", "b"), "");
  ASSERT_EQ(call(report_of_command(agent, "./unseen"), agent.host).output, "");
  write("b", "changed");
  ASSERT_TRUE(mentions(call(report_after_command(agent, "./unseen"), agent.host).output, "b (leased by"));

  EXPECT_EQ(untold({"windsurf", "s1"}), 1U);
}

TEST_F(HookNews, NobodyIsKeptOnAStoreThatSeesItsAgents) { EXPECT_FALSE(needs_keeper(*open(), true)); }

}  // namespace
}  // namespace leasehold
