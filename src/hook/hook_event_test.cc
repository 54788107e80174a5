#include "hook/hook_event.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace leasehold {
namespace {

HookEvent parsed(HookHost host, const std::string& payload) {
  auto event = parse_hook(host, payload);
  EXPECT_TRUE(event) << (event ? "" : event.error().message);
  return event.value_or(HookEvent{});
}

std::string tool_call(const std::string& tool, const std::string& input) {
  return fmt::format(R"({{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"{}",
    "tool_input":{},"tool_use_id":"t1","something_new":[1,{{}}]}})",
                     tool, input);
}

TEST(HookEvent, WritesOfClaudeCode) {
  for (const std::string tool : {"Write", "Edit", "MultiEdit"}) {
    const HookEvent event =
        parsed(HookHost::claude_code, tool_call(tool, R"({"file_path":"/w/a b.cc","content":"x"})"));
    EXPECT_EQ(event.moment, HookMoment::before_write) << tool;
    EXPECT_EQ(event.paths, std::vector<std::string>{"/w/a b.cc"}) << tool;
    EXPECT_EQ(event.session_id, "s1");
    EXPECT_EQ(event.subagent_id, "");
    EXPECT_EQ(event.cwd, "/w");
  }
  EXPECT_EQ(parsed(HookHost::claude_code, tool_call("NotebookEdit", R"({"notebook_path":"n.ipynb"})")).paths,
            std::vector<std::string>{"n.ipynb"});
}

TEST(HookEvent, PatchesOfCodex) {
  const std::string patch = R"(*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch)";
  EXPECT_EQ(parsed(HookHost::codex, tool_call("apply_patch", R"({"command":")" + patch + R"("})")).paths,
            (std::vector<std::string>{"a", "b"}));
  const HookEvent shell =
      parsed(HookHost::codex,
             tool_call("Bash", R"({"command":"cd sub && apply_patch <<'EOF'\n)" + patch + R"(\nEOF"})"));
  EXPECT_EQ(shell.moment, HookMoment::before_write);
  EXPECT_EQ(shell.paths, (std::vector<std::string>{"sub/a", "sub/b"}));
}

TEST(HookEvent, OtherToolsAreNothingToUs) {
  EXPECT_EQ(parsed(HookHost::claude_code, tool_call("WebFetch", R"({"url":"x"})")).moment, HookMoment::other);
  EXPECT_EQ(parsed(HookHost::claude_code, tool_call("Read", R"({"file_path":"/w/a"})")).moment,
            HookMoment::before_read);
}

TEST(HookEvent, CommandsOfAShell) {
  const HookEvent event = parsed(HookHost::claude_code, tool_call("Bash", R"({"command":"ls > a"})"));
  EXPECT_EQ(event.moment, HookMoment::before_command);
  EXPECT_EQ(event.command, "ls > a");
  EXPECT_TRUE(event.paths.empty()) << "that takes a look at the disk";
}

TEST(HookEvent, EventsOfALife) {
  const auto moment = [](const std::string& name) {
    return parsed(HookHost::claude_code, fmt::format(R"({{"session_id":"s","hook_event_name":"{}"}})", name))
        .moment;
  };
  EXPECT_EQ(moment("UserPromptSubmit"), HookMoment::turn_started);
  EXPECT_EQ(moment("Stop"), HookMoment::turn_stopped);
  EXPECT_EQ(moment("StopFailure"), HookMoment::turn_failed);
  EXPECT_EQ(moment("SubagentStop"), HookMoment::subagent_stopped);
  EXPECT_EQ(moment("SessionEnd"), HookMoment::session_ended);
  EXPECT_EQ(moment("SessionStart"), HookMoment::other);
  EXPECT_EQ(moment("PostToolUse"), HookMoment::other);
  EXPECT_EQ(moment("SomethingNew"), HookMoment::other);
}

TEST(HookEvent, WhatIsMissingIsSaid) {
  for (const auto& [payload, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "is not JSON"},
           {"[]", "no JSON object"},
           {"{}", "names no event"},
           {R"({"hook_event_name":"Stop"})", "names no session"},
           {tool_call("Write", "{}"), "has no file_path for Write"},
           {tool_call("Write", R"({"file_path":7})"), "has no file_path for Write"},
           {tool_call("apply_patch", R"({"command":"rm -rf"})"), "names no file"}}) {
    const auto event = parse_hook(HookHost::claude_code, payload);
    ASSERT_FALSE(event) << payload;
    EXPECT_NE(event.error().message.find(says), std::string::npos) << event.error().message;
  }
}

TEST(HookEvent, ADenialHasNoOtherKeys) {
  EXPECT_EQ(deny_text("PreToolUse", "because \"so\""),
            R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",)"
            R"("permissionDecisionReason":"because \"so\""}})");
}

}  // namespace
}  // namespace leasehold
