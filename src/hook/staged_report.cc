#include "hook/staged_report.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace leasehold {
namespace {

namespace json = boost::json;

// How a host names its event before a tool, the tools, and where a tool has the file.
struct Words {
  std::string_view before;
  std::string_view after;
  std::string_view write;
  std::string_view file;
  std::string_view shell;
};

const Words& words_of(HookHost host) {
  static constexpr Words kWords[] = {
      {"PreToolUse", "PostToolUse", "Write", "file_path", "Bash"},
      {"PreToolUse", "PostToolUse", "apply_patch", "command", "Bash"},
      {"BeforeTool", "AfterTool", "write_file", "file_path", "run_shell_command"},
      {"PreToolUse", "PostToolUse", "Write", "path", "Bash"},
      {"preToolUse", "postToolUse", "Write", "file_path", "Shell"},
      {"tool.execute.before", "tool.execute.after", "write", "filePath", "bash"},
      {"pre_write_code", "post_write_code", "", "file_path", ""},
      {"PreToolUse", "PostToolUse", "write_to_file", "path", "execute_command"},
  };
  return kWords[static_cast<std::size_t>(host)];
}

std::string report(const StagedAgent& agent, std::string_view event, std::string_view tool,
                   const json::object& arguments) {
  json::object whole;
  switch (agent.host) {
    case HookHost::cursor:
      whole = {{"hook_event_name", event},
               {"conversation_id", agent.session},
               {"workspace_roots", {agent.root}},
               {"tool_name", tool},
               {"tool_input", arguments}};
      break;
    case HookHost::opencode:
      whole = {{"event", event},
               {"session", agent.session},
               {"tool", tool},
               {"args", arguments},
               {"directory", agent.root}};
      if (!agent.subagent.empty()) whole["subagent"] = agent.subagent;
      break;
    case HookHost::windsurf:
      whole = {{"agent_action_name", event}, {"trajectory_id", agent.session}, {"tool_info", arguments}};
      break;
    case HookHost::cline:
      whole = {{"hookName", event},
               {"taskId", agent.session},
               {"workspaceRoots", {agent.root}},
               {event == "PostToolUse" ? "postToolUse" : "preToolUse",
                {{"toolName", tool}, {"parameters", arguments}}}};
      break;
    default:
      whole = {{"hook_event_name", event},
               {"session_id", agent.session},
               {"cwd", agent.root},
               {"tool_name", tool},
               {"tool_input", arguments}};
      if (!agent.subagent.empty()) whole["agent_id"] = agent.subagent;
  }
  return json::serialize(whole);
}

std::string write_report(const StagedAgent& agent, std::string_view event, const std::string& file) {
  const Words& words = words_of(agent.host);
  const std::string named = agent.host == HookHost::codex
                                ? fmt::format("*** Begin Patch\n*** Update File: {}\n*** End Patch", file)
                                : file;
  return report(agent, event, words.write, {{words.file, named}});
}

std::string command_report(const StagedAgent& agent, bool after, const std::string& line) {
  const Words& words = words_of(agent.host);
  if (agent.host == HookHost::windsurf) {
    return report(agent, after ? "post_run_command" : "pre_run_command", "",
                  {{"command_line", line}, {"cwd", agent.root}});
  }
  return report(agent, after ? words.after : words.before, words.shell, {{"command", line}});
}

}  // namespace

StagedTool tool_that_writes(HookHost host) { return {words_of(host).before, words_of(host).write}; }

std::string report_of_write(const StagedAgent& agent, const std::string& file) {
  return write_report(agent, words_of(agent.host).before, file);
}

std::string report_of_command(const StagedAgent& agent, const std::string& line) {
  return command_report(agent, false, line);
}

std::string report_after_write(const StagedAgent& agent, const std::string& file) {
  return write_report(agent, words_of(agent.host).after, file);
}

std::string report_after_command(const StagedAgent& agent, const std::string& line) {
  return command_report(agent, true, line);
}

}  // namespace leasehold
