// How an agent's leases end without anybody releasing them, as its hooks report it; and what it is told then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "scene.h"

namespace leasehold {
namespace {

class Ending : public Scene {
 protected:
  Ending() { configure("gate_retry = \"1s\"\nidle_grace = \"1s\"\n"); }

  std::string tell(const std::string& session, const std::string& event) const {
    const Ran ran = as("nobody", {"hook", "claude-code"},
                       fmt::format(R"({{"session_id":"{}","cwd":"{}",{}}})", session, root(), event));
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.err, "");
    return ran.out;
  }
  std::string write(const std::string& session) const {
    return tell(session, fmt::format(R"("hook_event_name":"PreToolUse","tool_name":"Write",
                                        "tool_input":{{"file_path":"{}/src/b.ts"}})",
                                     root()));
  }
  std::string happens(const std::string& session, const std::string& event) const {
    return tell(session, fmt::format(R"("hook_event_name":"{}")", event));
  }
};

TEST_F(Ending, TheEndOfTheSessionIsTheEndOfItsLeases) {
  ASSERT_EQ(write("s1"), "");
  EXPECT_EQ(happens("s1", "SessionEnd"), "");
  EXPECT_EQ(write("s2"), "");
}

TEST_F(Ending, AFailureThatStopsTheAgentIsTheEndOfItsLeases) {
  ASSERT_EQ(write("s1"), "");
  EXPECT_EQ(happens("s1", "PostToolUseFailure"), "");
  EXPECT_NE(write("s2"), "") << "a tool that failed is no such failure";
  EXPECT_EQ(happens("s1", "StopFailure"), "");
  EXPECT_EQ(write("s3"), "");
}

TEST_F(Ending, AnAgentThatStoppedKeepsItsLeasesForTheGraceOnly) {
  ASSERT_EQ(write("s1"), "");
  EXPECT_EQ(happens("s1", "Stop"), "");
  EXPECT_TRUE(eventually([&] { return as("x", {"ls"}).out.empty(); }));
  EXPECT_EQ(write("s2"), "");
}

TEST_F(Ending, WhatACommandInTheBackgroundHoldsOutlastsTheTurn) {
  StartedLease run = started("claude-code", {"run", "port:4000", "--", "sh", "-c",
                                             "touch ready; while ! test -e out; do sleep 0.01; done"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/ready"); }));
  ASSERT_EQ(write("s-claude-code"), "");
  EXPECT_EQ(happens("s-claude-code", "UserPromptSubmit"), "");

  EXPECT_EQ(happens("s-claude-code", "Stop"), "");

  EXPECT_TRUE(eventually([&] { return as("x", {"ls"}).out == "port:4000\texclusive\tclaude-code\n"; }));
  add("out");
  EXPECT_EQ(run.wait().exit, 0);
}

TEST_F(Ending, AnAgentThatGoesOnInTimeKeepsThem) {
  configure("idle_grace = \"1h\"\n");
  ASSERT_EQ(write("s1"), "");
  EXPECT_EQ(happens("s1", "Stop"), "");
  configure("idle_grace = \"1s\"\n");
  EXPECT_EQ(happens("s1", "UserPromptSubmit"), "");
  sleep(2);
  EXPECT_NE(write("s2"), "");
}

TEST_F(Ending, WhoseLeaseWasForcedAwayIsToldAtTheNextWriteAndBlocked) {
  ASSERT_EQ(write("s1"), "");
  ASSERT_EQ(as("olga", {"force-release", "src/b.ts", "--reason", "needed now"}).exit, 0);
  const std::string told = write("s1");
  EXPECT_TRUE(contains(told, "deny")) << told;
  EXPECT_TRUE(contains(told, "needed now")) << told;
  EXPECT_EQ(write("s1"), "") << "once; then it is free for whoever asks";
}

TEST_F(Ending, WhoseLeaseWasTransferredIsToldAtTheNextWriteAndBlocked) {
  ASSERT_EQ(write("s1"), "");
  const Ran moved = as("olga", {"transfer", "src/b.ts", "--operator", "--to", "claude-code", "--to-session",
                                "s2", "--note", "over to you"});
  ASSERT_EQ(moved.exit, 0) << moved.err;
  const std::string told = write("s1");
  EXPECT_TRUE(contains(told, "deny") && contains(told, "handed to another owner (by olga)")) << told;
  const std::string received = write("s2");
  EXPECT_TRUE(contains(received, "comes from olga") && !contains(received, "deny")) << received;
}

TEST_F(Ending, WhoseTimeRanOutWhileAnotherWroteIsToldAndBlocked) {
  configure("idle_grace = \"1s\"\n");
  ASSERT_EQ(write("s1"), "");
  EXPECT_EQ(happens("s1", "Stop"), "");
  ASSERT_TRUE(eventually([&] { return as("x", {"ls"}).out.empty(); }));
  ASSERT_EQ(write("s2"), "");
  EXPECT_EQ(happens("s2", "SessionEnd"), "");
  const std::string told = write("s1");
  EXPECT_TRUE(contains(told, "deny") && contains(told, "stayed idle")) << told;
  EXPECT_EQ(write("s1"), "");
}

}  // namespace
}  // namespace leasehold
