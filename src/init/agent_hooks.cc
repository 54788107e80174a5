#include "init/agent_hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

namespace leasehold {
namespace {

namespace json = boost::json;

// Longer than lease takes to answer by itself when the store does not (src/cli/hook.cc). Codex cuts the end
// of a session at 3 s.
constexpr int kTimeoutSeconds = 5;
constexpr int kEndTimeoutSeconds = 3;

constexpr HostSigns kSigns[] = {
    {"claude", "CLAUDE_CONFIG_DIR", ".claude", ".claude"},
    {"codex", "CODEX_HOME", ".codex", ".codex"},
    {"gemini", "GEMINI_CLI_HOME", ".gemini", ".gemini"},
    {"copilot", "COPILOT_HOME", ".copilot", ".github/hooks"},
    {"cursor-agent", "", ".cursor", ".cursor"},
    {"opencode", "OPENCODE_CONFIG_DIR", ".config/opencode", ".opencode"},
    {"windsurf", "", ".codeium/windsurf", ".windsurf"},
    {"cline", "", "Documents/Cline", ".clinerules"},
};

std::string command_of(HookHost host) { return fmt::format("lease hook {}", word(host)); }

// For a host that goes by the exit status: blocks, and says why.
std::string or_block(HookHost host) {
  // 2 is how lease refuses, and it has said why.
  return fmt::format("{} || {{ [ $? = 2 ] || echo '{}' >&2; exit 2; }}", command_of(host), kNobodyAsked);
}

// Of the three fields that most hosts have in common.
std::string handler(const std::string& command, int timeout = kTimeoutSeconds) {
  return json::serialize(json::object{{"type", "command"}, {"command", command}, {"timeout", timeout}});
}

// A line for a shell, and not a program with arguments: Copilot reads these settings too, and drops the
// arguments. Whether a hook that cannot be run blocks is a setting of its own.
std::string claude_handler(bool blocks) {
  const std::string command = command_of(HookHost::claude_code) + (blocks ? "" : " || true");
  json::object whole = json::parse(handler(command)).as_object();
  if (blocks) whole["onFailure"] = "block";
  return json::serialize(whole);
}

// A shell that stops working without us could not even install us: with every host it is asked about, and
// goes on if that fails.
std::vector<HookGroup> claude_groups(const HookWishes& wishes) {
  const std::string plain = claude_handler(false);
  return {
      {"SessionStart", "", plain},
      {"UserPromptSubmit", "", plain},
      {"PreToolUse", std::string("Write|Edit|MultiEdit|NotebookEdit") + (wishes.reads ? "|Read" : ""),
       claude_handler(!wishes.fail_open)},
      {"PreToolUse", "Bash", plain},
      {"PostToolUse", "Write|Edit|MultiEdit|NotebookEdit|Read|Bash", plain},
      {"PostToolUseFailure", "Bash", plain},
      {"SubagentStop", "", plain},
      {"Stop", "", plain},
      {"StopFailure", "", plain},
      {"SessionEnd", "", plain},
  };
}

// Patches also come through the shell. It lets a write pass when a hook fails: unless with 2 and a reason.
std::vector<HookGroup> codex_groups(const HookWishes& wishes) {
  const std::string plain = handler(command_of(HookHost::codex));
  return {
      {"SessionStart", "", plain},
      {"UserPromptSubmit", "", plain},
      {"PreToolUse", "apply_patch", wishes.fail_open ? plain : handler(or_block(HookHost::codex))},
      {"PreToolUse", "Bash", plain},
      {"PostToolUse", "apply_patch|Bash", plain},
      {"SubagentStop", "", plain},
      {"Stop", "", plain},
      {"SessionEnd", "", handler(command_of(HookHost::codex), kEndTimeoutSeconds)},
  };
}

// Its time is in milliseconds. For it, any status but 0 and 1 is a "no", also that of a missing program.
std::vector<HookGroup> gemini_groups(const HookWishes& wishes) {
  constexpr int kTimeout = 1000 * kTimeoutSeconds;
  const std::string plain = handler(command_of(HookHost::gemini) + " || exit 1", kTimeout);
  return {
      {"SessionStart", "", plain},
      {"BeforeAgent", "", plain},
      {"BeforeTool", fmt::format("^(write_file|replace{})$", wishes.reads ? "|read_file" : ""),
       wishes.fail_open ? plain : handler(or_block(HookHost::gemini), kTimeout)},
      {"BeforeTool", "^run_shell_command$", plain},
      {"AfterTool", "^(write_file|replace|read_file|run_shell_command)$", plain},
      {"AfterAgent", "", plain},
      {"SessionEnd", "", plain},
  };
}

// For it, any status but 0 is a "no", of which the model sees only the number.
std::vector<HookGroup> copilot_groups(const HookWishes& wishes) {
  const std::string command = command_of(HookHost::copilot);
  const std::string plain = handler(command + " || true");
  const std::string no = json::serialize(
      json::object{{"permissionDecision", "deny"}, {"permissionDecisionReason", kNobodyAsked}});
  return {
      {"SessionStart", "", plain},
      {"UserPromptSubmit", "", plain},
      {"PreToolUse", std::string("Write|Edit") + (wishes.reads ? "|Read" : ""),
       wishes.fail_open ? plain : handler(fmt::format("{} || echo '{}'", command, no))},
      {"PreToolUse", "Bash", plain},
      {"PostToolUse", "Write|Edit|Read|Bash", plain},
      {"PostToolUseFailure", "Bash", plain},
      {"Stop", "", plain},
      {"SessionEnd", "", plain},
  };
}

// Some of its versions reject a whole file for one event that they do not know; so no more than needed.
std::vector<HookGroup> cursor_groups(const HookWishes& wishes) {
  const auto flat = [](std::string event, const std::string& matcher, bool blocks) -> HookGroup {
    json::object entry = {{"command", command_of(HookHost::cursor)}};
    if (!matcher.empty()) entry["matcher"] = matcher;
    entry["timeout"] = kTimeoutSeconds;
    if (blocks) entry["failClosed"] = true;
    return {std::move(event), matcher, json::serialize(entry), true};
  };
  return {
      flat("beforeSubmitPrompt", "", false),
      flat(
          "preToolUse",
          std::string("Write|Delete|Edit|StrReplace|ApplyPatch|EditNotebook") + (wishes.reads ? "|Read" : ""),
          !wishes.fail_open),
      flat("beforeShellExecution", "", false),
      flat("postToolUse", "Write|Delete|Edit|StrReplace|ApplyPatch|EditNotebook|Read|Shell", false),
      flat("postToolUseFailure", "Shell", false),
      flat("stop", "", false),
      flat("sessionEnd", "", false),
  };
}

// It goes on whatever a hook does, unless that exits with 2.
std::vector<HookGroup> windsurf_groups(const HookWishes& wishes) {
  const auto flat = [](std::string event, const std::string& command) -> HookGroup {
    return {std::move(event), "", json::serialize(json::object{{"command", command}, {"show_output", true}}),
            true};
  };
  const std::string plain = command_of(HookHost::windsurf);
  std::vector<HookGroup> groups = {
      flat("pre_user_prompt", plain),
      flat("pre_write_code", wishes.fail_open ? plain : or_block(HookHost::windsurf)),
      flat("pre_run_command", plain),
      flat("post_write_code", plain),
      flat("post_read_code", plain),
      flat("post_run_command", plain),
      flat("post_cascade_response", plain),
  };
  if (wishes.reads) groups.push_back(flat("pre_read_code", plain));
  return groups;
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

std::string HookGroup::text() const {
  if (is_flat) return handler;
  const std::string start = matcher.empty() ? "" : fmt::format("\"matcher\": {}, ", json::serialize(matcher));
  return fmt::format("{{{}\"hooks\": [{}]}}", start, handler);
}

std::vector<HookGroup> hook_groups(HookHost host, const HookWishes& wishes) {
  switch (host) {
    case HookHost::claude_code:
      return claude_groups(wishes);
    case HookHost::codex:
      return codex_groups(wishes);
    case HookHost::gemini:
      return gemini_groups(wishes);
    case HookHost::copilot:
      return copilot_groups(wishes);
    case HookHost::cursor:
      return cursor_groups(wishes);
    case HookHost::windsurf:
      return windsurf_groups(wishes);
    case HookHost::opencode:
    case HookHost::cline:
      break;
  }
  return {};
}

bool is_our_handler(HookHost host, std::string_view handler) {
  boost::system::error_code error;
  json::parse_options options;
  options.allow_comments = true;
  const json::value value = json::parse(handler, error, {}, options);
  if (error || !value.is_object()) return false;
  const json::object& entry = value.get_object();
  std::string command = text_at(entry, "command");
  const json::value* arguments = entry.if_contains("args");
  if (arguments != nullptr && arguments->is_array()) {
    for (const json::value& argument : arguments->get_array()) {
      if (argument.is_string()) command += ' ' + std::string(argument.get_string());
    }
  }
  const std::string ours = command_of(host);
  return command == ours || command.starts_with(ours + ' ');
}

std::string_view hooks_file(HookHost host) {
  switch (host) {
    case HookHost::claude_code:
      return ".claude/settings.json";
    case HookHost::codex:
      return ".codex/hooks.json";
    case HookHost::gemini:
      return ".gemini/settings.json";
    case HookHost::copilot:
      return ".github/hooks/leasehold.json";
    case HookHost::cursor:
      return ".cursor/hooks.json";
    case HookHost::windsurf:
      return ".windsurf/hooks.json";
    case HookHost::opencode:
    case HookHost::cline:
      break;
  }
  return {};
}

bool has_version(HookHost host) { return host == HookHost::copilot || host == HookHost::cursor; }

std::string_view condition_of(HookHost host) {
  switch (host) {
    case HookHost::codex:
      return "Codex runs the hooks of a project that it trusts, and only those that you approved: start it "
             "here and "
             "say /hooks.";
    case HookHost::gemini:
      return "Gemini CLI runs the hooks of a folder that it trusts: start it here and say so when it asks.";
    case HookHost::copilot:
      return "Copilot runs the hooks of a folder that it trusts: start it here and say so when it asks.";
    case HookHost::cursor:
      return "Cursor runs the hooks of a workspace that it trusts.";
    case HookHost::cline:
      return "Cline runs hooks if they are switched on in its settings.";
    default:
      return {};
  }
}

const HostSigns& signs_of(HookHost host) { return kSigns[static_cast<std::size_t>(host)]; }

}  // namespace leasehold
