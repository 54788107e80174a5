#include "hook/staged_report.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace leasehold {
namespace {

namespace json = boost::json;

// How a host names its event before a tool, the tools, and where a tool has the file.
struct Words {
  std::string_view before;
  std::string_view write;
  std::string_view file;
  std::string_view shell;
};

const Words& words_of(HookHost host) {
  static constexpr Words kWords[] = {
      {"PreToolUse", "Write", "file_path", "Bash"},
      {"PreToolUse", "apply_patch", "command", "Bash"},
      {"BeforeTool", "write_file", "file_path", "run_shell_command"},
      {"PreToolUse", "Write", "path", "Bash"},
      {"preToolUse", "Write", "file_path", "Shell"},
      {"tool.execute.before", "write", "filePath", "bash"},
      {"pre_write_code", "", "file_path", ""},
      {"PreToolUse", "write_to_file", "path", "execute_command"},
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
               {"preToolUse", {{"toolName", tool}, {"parameters", arguments}}}};
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

}  // namespace

std::string report_of_write(const StagedAgent& agent, const std::string& file) {
  const Words& words = words_of(agent.host);
  const std::string named = agent.host == HookHost::codex
                                ? fmt::format("*** Begin Patch\n*** Update File: {}\n*** End Patch", file)
                                : file;
  return report(agent, words.before, words.write, {{words.file, named}});
}

std::string report_of_command(const StagedAgent& agent, const std::string& line) {
  const Words& words = words_of(agent.host);
  if (agent.host == HookHost::windsurf)
    return report(agent, "pre_run_command", "", {{"command_line", line}, {"cwd", agent.root}});
  return report(agent, words.before, words.shell, {{"command", line}});
}

}  // namespace leasehold
