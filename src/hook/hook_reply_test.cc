#include "hook/hook_reply.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

TEST(HookReply, ADenialIsInTheWordsOfItsHost) {
  const std::string reason = "because \"so\"";
  const auto output = [&](HookHost host) { return denial(host, "PreToolUse", reason).output; };
  const std::string nested =
      R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",)"
      R"("permissionDecisionReason":"because \"so\""}})";
  EXPECT_EQ(output(HookHost::claude_code), nested);
  EXPECT_EQ(output(HookHost::codex), nested);
  EXPECT_EQ(output(HookHost::copilot), nested);
  EXPECT_EQ(output(HookHost::gemini), R"({"decision":"deny","reason":"because \"so\""})");
  EXPECT_EQ(output(HookHost::cursor),
            R"({"permission":"deny","agent_message":"because \"so\"","user_message":"because \"so\""})");
  EXPECT_EQ(output(HookHost::cline), R"({"cancel":true,"errorMessage":"because \"so\""})");
  EXPECT_EQ(output(HookHost::opencode), "");
  EXPECT_EQ(output(HookHost::windsurf), "");
}

TEST(HookReply, StatusTwoIsForHostsThatGoByIt) {
  for (const HookHost host : all_hosts()) {
    const HookAnswer answer = denial(host, "x", "why");
    const bool by_status =
        host == HookHost::cursor || host == HookHost::opencode || host == HookHost::windsurf;
    EXPECT_EQ(answer.exit_status, by_status ? 2 : 0) << word(host);
    EXPECT_EQ(answer.complaint, by_status ? "why" : "") << word(host);
    EXPECT_TRUE(answer.denies());
  }
}

TEST(HookReply, ARemarkIsNoDecision) {
  for (const HookHost host : all_hosts()) {
    const HookAnswer answer = remark(host, "PostToolUse", "look");
    EXPECT_TRUE(answer.output.contains("look")) << word(host);
    EXPECT_FALSE(answer.output.contains("eny") || answer.output.contains("true")) << answer.output;
    EXPECT_EQ(answer.exit_status, 0);
  }
}

TEST(HookReply, GoingOnIsSilence) {
  for (const HookHost host : all_hosts()) {
    const HookAnswer answer = allowance(host, HookMoment::before_write);
    EXPECT_EQ(answer.output, host == HookHost::cursor ? R"({"permission":"allow"})" : "") << word(host);
    EXPECT_EQ(answer.exit_status, 0);
    EXPECT_EQ(allowance(host, HookMoment::turn_stopped).output, "");
  }
}

}  // namespace
}  // namespace leasehold
