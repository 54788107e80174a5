#include "hook/hook_event.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "hook/staged_report.h"

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
  EXPECT_EQ(
      parsed(HookHost::codex, tool_call("apply_patch", R"({"path":"c","command":")" + patch + R"("})")).paths,
      (std::vector<std::string>{"c", "a", "b"}))
      << "another field hides none";
  // The shell's reader follows those that come through it.
  const HookEvent shell =
      parsed(HookHost::codex,
             tool_call("Bash", R"({"command":"cd sub && apply_patch <<'EOF'\n)" + patch + R"(\nEOF"})"));
  EXPECT_EQ(shell.moment, HookMoment::before_command);
  EXPECT_TRUE(shell.command.starts_with("cd sub && apply_patch"));
}

TEST(HookEvent, ToolsOfVsCode) {
  const auto report = [](const std::string& event, const std::string& tool, const std::string& input) {
    return fmt::format(
        R"({{"timestamp":"2026-11-15T15:08:06Z","cwd":"/w","sessionId":"s1","hookEventName":"{}",
             "tool_name":"{}","tool_input":{},"tool_use_id":"t1"}})",
        event, tool, input);
  };
  for (const HookHost host : {HookHost::copilot, HookHost::claude_code}) {
    const HookEvent edit =
        parsed(host, report("PreToolUse", "editFiles", R"({"files":["a.ts","/w/b.ts","a.ts"]})"));
    EXPECT_EQ(edit.moment, HookMoment::before_write);
    EXPECT_EQ(edit.host, HookHost::copilot);
    EXPECT_EQ(edit.session_id, "s1");
    EXPECT_EQ(edit.paths, (std::vector<std::string>{"a.ts", "/w/b.ts"}));
    EXPECT_EQ(parsed(host, report("PostToolUse", "editFiles", R"({"files":["a.ts"]})")).moment,
              HookMoment::after_write);
  }
  EXPECT_EQ(parsed(HookHost::copilot, report("PreToolUse", "multi_replace_string_in_file",
                                             R"({"replacements":[{"filePath":"a"},{"filePath":"b"},{}]})"))
                .paths,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parsed(HookHost::copilot, report("PreToolUse", "run_in_terminal", R"({"command":"ls"})")).command,
            "ls");
  EXPECT_NE(parsed(HookHost::copilot, report("PreToolUse", "editFiles", R"({"files":[]})")).flaw, "");
  EXPECT_EQ(parsed(HookHost::copilot, report("Stop", "", "{}")).moment, HookMoment::turn_stopped);
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
  EXPECT_EQ(moment("SessionStart"), HookMoment::session_started);
  EXPECT_EQ(moment("SubagentStart"), HookMoment::other) << "its first write tells who it is";
  EXPECT_EQ(moment("PostToolUse"), HookMoment::other) << "of a tool that does nothing to files";
  EXPECT_EQ(moment("SomethingNew"), HookMoment::other);
}

TEST(HookEvent, WhatIsMissingIsSaid) {
  for (const auto& [payload, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "is empty"}, {"{", "is not JSON"}, {"[]", "no JSON object"}, {"{}", "names no event"}}) {
    const auto event = parse_hook(HookHost::claude_code, payload);
    ASSERT_FALSE(event) << payload;
    EXPECT_NE(event.error().message.find(says), std::string::npos) << event.error().message;
  }
  for (const auto& [payload, says] : std::vector<std::pair<std::string, std::string>>{
           {R"({"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a"}})",
            "names no session"},
           {tool_call("Write", "{}"), "names no file for Write"},
           {tool_call("Write", R"({"file_path":7})"), "names no file for Write"},
           {tool_call("apply_patch", R"({"command":"rm -rf"})"), "names no file"}}) {
    const HookEvent event = parsed(HookHost::claude_code, payload);
    EXPECT_EQ(event.moment, HookMoment::before_write) << payload;
    EXPECT_NE(event.flaw.find(says), std::string::npos) << event.flaw;
  }
}

TEST(HookEvent, WhatAsksForNoAnswerAndNamesNoSessionIsNothingToUs) {
  for (const std::string name : {"UserPromptSubmit", "Stop", "StopFailure", "SubagentStop", "SessionEnd"}) {
    const std::string payload = fmt::format(R"({{"hook_event_name":"{}"}})", name);
    EXPECT_EQ(parsed(HookHost::claude_code, payload).moment, HookMoment::other) << name;
  }
  const std::string read =
      R"({"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"}})";
  EXPECT_EQ(parsed(HookHost::claude_code, read).moment, HookMoment::before_read);
}

TEST(HookEvent, WritesOfOthers) {
  struct Report {
    HookHost host;
    std::string payload;
    std::string paths;  // With blanks between.
  };
  const Report reports[] = {
      {HookHost::gemini,
       R"({"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","timestamp":"2026-11-15T15:09:42Z",
           "tool_name":"replace","tool_input":{"file_path":"src/a","old_string":"x","new_string":"y"}})",
       "src/a"},
      {HookHost::copilot,
       R"({"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-15T15:08:06Z","cwd":"/w",
           "tool_name":"Write","tool_input":{"path":"/w/a","file_text":"new"}})",
       "/w/a"},
      {HookHost::copilot,
       R"({"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"Edit",
           "tool_input":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch"})",
       "a b"},
      {HookHost::copilot,
       R"({"sessionId":"s","timestamp":1763200000000,"cwd":"/w","toolName":"create","toolArgs":{"path":"a"}})",
       "a"},
      {HookHost::copilot,
       R"({"sessionId":"s","timestamp":1763200000000,"cwd":"/w","toolName":"edit","toolArgs":"{\"path\":\"a\"}"})",
       "a"},
      {HookHost::cursor,
       R"({"hook_event_name":"preToolUse","conversation_id":"s","generation_id":"g","workspace_roots":["/w"],
           "tool_name":"Delete","tool_input":{"path":"a"}})",
       "a"},
      {HookHost::cursor,
       R"({"hook_event_name":"preToolUse","conversation_id":"s","workspace_roots":["/w"],
           "tool_input":{"file_path":"a","old_string":"x","new_string":"y"}})",
       "a"},
      {HookHost::opencode,
       R"({"event":"tool.execute.before","session":"s","tool":"apply_patch","directory":"/w",
           "args":{"patchText":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}})",
       "a"},
      {HookHost::windsurf,
       R"({"agent_action_name":"pre_write_code","trajectory_id":"s","execution_id":"e",
           "tool_info":{"file_path":"/w/a","edits":[{"old_string":"x","new_string":"y"}]}})",
       "/w/a"},
      {HookHost::cline,
       R"({"clineVersion":"3","hookName":"PreToolUse","taskId":"s","workspaceRoots":["/w","/v"],
           "preToolUse":{"toolName":"replace_in_file","parameters":{"path":"a","diff":"x"}}})",
       "a"},
  };
  for (const Report& report : reports) {
    const HookEvent event = parsed(report.host, report.payload);
    EXPECT_EQ(event.moment, HookMoment::before_write) << report.payload;
    EXPECT_EQ(fmt::format("{}", fmt::join(event.paths, " ")), report.paths) << report.payload;
    EXPECT_EQ(event.session_id, "s") << report.payload;
    EXPECT_EQ(event.host, report.host);
    EXPECT_EQ(event.cwd, report.host == HookHost::windsurf ? "" : "/w") << report.payload;
  }
}

TEST(HookEvent, CommandsOfOthersRunWhereTheySay) {
  struct Report {
    HookHost host;
    std::string payload;
    std::string cwd;
  };
  const Report reports[] = {
      {HookHost::gemini,
       R"({"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"run_shell_command",
           "tool_input":{"command":"ls > a","dir_path":"src"}})",
       "/w/src"},
      {HookHost::cursor,
       R"({"hook_event_name":"beforeShellExecution","conversation_id":"s","command":"ls > a","cwd":"/w"})",
       "/w"},
      {HookHost::opencode,
       R"({"event":"tool.execute.before","session":"s","tool":"bash","directory":"/w",
           "args":{"command":"ls > a","workdir":"/v"}})",
       "/v"},
      {HookHost::windsurf,
       R"({"agent_action_name":"pre_run_command","trajectory_id":"s","tool_info":{"command_line":"ls > a","cwd":"/w"}})",
       "/w"},
      {HookHost::cline,
       R"({"hookName":"PreToolUse","taskId":"s","workspaceRoots":["/w"],
           "preToolUse":{"toolName":"execute_command","parameters":{"command":"ls > a","requires_approval":"false"}}})",
       "/w"},
  };
  for (const Report& report : reports) {
    const HookEvent event = parsed(report.host, report.payload);
    EXPECT_EQ(event.moment, HookMoment::before_command) << report.payload;
    EXPECT_EQ(event.command, "ls > a") << report.payload;
    EXPECT_EQ(event.cwd, report.cwd) << report.payload;
  }
}

TEST(HookEvent, WhatIsTooLargeIsCalledThat) {
  const auto event = parse_hook(HookHost::claude_code, std::string(kPayloadBytesMax + 1, ' '));
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().message, "The hook's input is larger than any that a host makes (64 MB).");
}

TEST(HookEvent, LivesOfOthers) {
  struct Report {
    HookHost host;
    std::string payload;
    HookMoment moment;
  };
  const Report reports[] = {
      {HookHost::gemini, R"({"session_id":"s","hook_event_name":"BeforeAgent"})", HookMoment::turn_started},
      {HookHost::gemini, R"({"session_id":"s","hook_event_name":"AfterAgent"})", HookMoment::turn_stopped},
      {HookHost::gemini, R"({"session_id":"s","hook_event_name":"SessionEnd"})", HookMoment::session_ended},
      {HookHost::copilot, R"({"session_id":"s","hook_event_name":"Stop"})", HookMoment::turn_stopped},
      {HookHost::copilot, R"({"sessionId":"s","cwd":"/w","prompt":"go on"})", HookMoment::turn_started},
      {HookHost::copilot, R"({"sessionId":"s","cwd":"/w","reason":"complete"})", HookMoment::session_ended},
      {HookHost::copilot, R"({"sessionId":"s","cwd":"/w","source":"new"})", HookMoment::session_started},
      {HookHost::copilot, R"({"sessionId":"s","cwd":"/w","error":{}})", HookMoment::other},
      {HookHost::copilot, R"({"sessionId":"s","toolName":"bash","toolArgs":{"command":"x"},"error":"no"})",
       HookMoment::after_command},
      {HookHost::cursor,
       R"({"conversation_id":"s","hook_event_name":"postToolUseFailure","tool_name":"Shell",
           "tool_input":{"command":"x"}})",
       HookMoment::after_command},
      {HookHost::copilot,
       R"({"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":{"command":"ls"},"toolResult":{}})",
       HookMoment::after_command},
      {HookHost::copilot, R"({"sessionId":"s","toolName":"view","toolArgs":{"path":"a"}})",
       HookMoment::before_read},
      {HookHost::gemini, R"({"session_id":"s","hook_event_name":"SessionStart"})",
       HookMoment::session_started},
      {HookHost::codex, R"({"session_id":"s","hook_event_name":"SubagentStart"})", HookMoment::other},
      {HookHost::cursor, R"({"conversation_id":"s","hook_event_name":"sessionStart"})",
       HookMoment::session_started},
      {HookHost::cursor, R"({"conversation_id":"s","hook_event_name":"stop"})", HookMoment::turn_stopped},
      {HookHost::cursor, R"({"conversation_id":"s","hook_event_name":"sessionEnd"})",
       HookMoment::session_ended},
      {HookHost::opencode, R"({"session":"s","event":"session.idle"})", HookMoment::turn_stopped},
      {HookHost::opencode, R"({"session":"s","subagent":"t","event":"session.idle"})",
       HookMoment::subagent_stopped},
      {HookHost::opencode, R"({"session":"s","event":"session.deleted"})", HookMoment::session_ended},
      {HookHost::windsurf, R"({"trajectory_id":"s","agent_action_name":"pre_user_prompt"})",
       HookMoment::turn_started},
      {HookHost::windsurf, R"({"trajectory_id":"s","agent_action_name":"post_cascade_response"})",
       HookMoment::turn_stopped},
      {HookHost::windsurf, R"({"trajectory_id":"s","agent_action_name":"pre_mcp_tool_use"})",
       HookMoment::other},
      {HookHost::cline, R"({"taskId":"s","hookName":"TaskResume"})", HookMoment::turn_started},
      {HookHost::cline, R"({"taskId":"s","hookName":"TaskCancel"})", HookMoment::turn_stopped},
  };
  for (const Report& report : reports)
    EXPECT_EQ(parsed(report.host, report.payload).moment, report.moment) << report.payload;
}

TEST(HookEvent, WhatWasDoneIsReportedToo) {
  for (const HookHost host : all_hosts()) {
    const StagedAgent agent = {.host = host, .session = "s", .root = "/w", .subagent = {}};
    const HookEvent written = parsed(host, report_after_write(agent, "/w/a"));
    EXPECT_EQ(written.moment, HookMoment::after_write) << word(host);
    EXPECT_EQ(written.paths, std::vector<std::string>{"/w/a"}) << word(host);
    const HookEvent ran = parsed(host, report_after_command(agent, "make"));
    EXPECT_EQ(ran.moment, HookMoment::after_command) << word(host);
    EXPECT_EQ(ran.command, "make") << word(host);
  }
  const std::string odd =
      R"({"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{}})";
  EXPECT_EQ(parsed(HookHost::codex, odd).moment, HookMoment::other) << "it is over, whatever it was";
}

TEST(HookEvent, HooksOfClaudeCodeThatOthersRunAreTheirs) {
  const auto host = [](const std::string& more) {
    return parsed(HookHost::claude_code, R"({"hook_event_name":"Stop","session_id":"s",)" + more + "}").host;
  };
  EXPECT_EQ(host(R"("transcript_path":"x")"), HookHost::claude_code);
  EXPECT_EQ(host(R"("timestamp":"2026-11-15T15:08:06Z","transcript_path":"x")"), HookHost::copilot);
  EXPECT_EQ(host(R"("conversation_id":"c")"), HookHost::cursor);
}

TEST(HookEvent, HalfACharacterMattersOnlyWhereItNamesSomething) {
  const auto event = [](const std::string& tool, const std::string& input) {
    return parsed(HookHost::claude_code, tool_call(tool, input));
  };
  EXPECT_NE(event("Write", R"({"file_path":"/w/a\ud800"})").flaw.find("lone surrogate"), std::string::npos);
  EXPECT_NE(event("Bash", R"({"command":"echo > \udc00"})").flaw.find("lone surrogate"), std::string::npos);
  EXPECT_EQ(event("Write", R"({"file_path":"/w/a","content":"cut \ud83d"})").flaw, "");
  EXPECT_EQ(event("Write", R"({"file_path":"/w/\ud83d\ude00"})").paths.front(), "/w/\xF0\x9F\x98\x80");
  EXPECT_EQ(parsed(HookHost::claude_code,
                   R"({"session_id":"s","hook_event_name":"Stop","last_assistant_message":"\ud83d"})")
                .moment,
            HookMoment::turn_stopped);
}

TEST(HookEvent, DeepArgumentsAreTheToolsOwnAffair) {
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  EXPECT_EQ(
      parsed(HookHost::claude_code, tool_call("Write", R"({"file_path":"a","content":)" + deep + "}")).paths,
      std::vector<std::string>{"a"});
}

TEST(HookEvent, SessionsGetNamesThatLeasesTake) {
  const auto session = [](const std::string& id) {
    return parsed(HookHost::codex, fmt::format(R"({{"hook_event_name":"Stop","session_id":"{}"}})", id))
        .session_id;
  };
  EXPECT_EQ(session("ses_e2.0:3-x"), "ses_e2.0:3-x");
  EXPECT_TRUE(session("e203/x y").starts_with("e203-x-y-"));
  EXPECT_NE(session("e203/x y"), session("e203 x/y")) << "two sessions stay two";
  EXPECT_TRUE(session("-a").starts_with("s-a-"));
  EXPECT_EQ(session(std::string(500, 'a')).size(), 128U);
  EXPECT_NE(session(std::string(500, 'a')), session(std::string(501, 'a')));
}

}  // namespace
}  // namespace leasehold
