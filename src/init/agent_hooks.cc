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
};

std::string command_of(HookHost host) { return fmt::format("lease hook {}", word(host)); }

// Claude Code starts the program itself: no shell, nothing to quote. Whether a hook that cannot be run blocks
// is its own setting.
std::string claude_handler(bool blocks) {
  json::object handler = {{"type", "command"},
                          {"command", "lease"},
                          {"args", {"hook", word(HookHost::claude_code)}},
                          {"timeout", kTimeoutSeconds}};
  if (blocks) handler["onFailure"] = "block";
  return json::serialize(handler);
}

// Codex has only a line for a login shell, and lets a write pass when that fails: unless it fails with 2 and
// says why.
std::string codex_handler(bool blocks, int timeout = kTimeoutSeconds) {
  std::string command = command_of(HookHost::codex);
  if (blocks)
    command += " || { echo 'lease could not be asked about this write. Is it installed?' >&2; exit 2; }";
  return json::serialize(json::object{{"type", "command"}, {"command", command}, {"timeout", timeout}});
}

// A shell that stops working without us could not even install us: it is asked about, and goes on if that
// fails.
std::vector<HookGroup> claude_groups(const HookWishes& wishes) {
  const std::string plain = claude_handler(false);
  return {
      {"UserPromptSubmit", "", plain},
      {"PreToolUse", std::string("Write|Edit|MultiEdit|NotebookEdit") + (wishes.reads ? "|Read" : ""),
       claude_handler(!wishes.fail_open)},
      {"PreToolUse", "Bash", plain},
      {"SubagentStop", "", plain},
      {"Stop", "", plain},
      {"StopFailure", "", plain},
      {"SessionEnd", "", plain},
  };
}

// Patches also come through the shell.
std::vector<HookGroup> codex_groups(const HookWishes& wishes) {
  const std::string plain = codex_handler(false);
  return {
      {"UserPromptSubmit", "", plain},
      {"PreToolUse", "apply_patch", codex_handler(!wishes.fail_open)},
      {"PreToolUse", "Bash", plain},
      {"SubagentStop", "", plain},
      {"Stop", "", plain},
      {"SessionEnd", "", codex_handler(false, kEndTimeoutSeconds)},
  };
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool is_our_handler(HookHost host, const json::value& value) {
  if (!value.is_object()) return false;
  const json::object& handler = value.get_object();
  std::string command = text_at(handler, "command");
  const json::value* arguments = handler.if_contains("args");
  if (arguments != nullptr && arguments->is_array()) {
    for (const json::value& argument : arguments->get_array()) {
      if (argument.is_string()) command += ' ' + std::string(argument.get_string());
    }
  }
  const std::string ours = command_of(host);
  return command == ours || command.starts_with(ours + ' ');
}

}  // namespace

std::string HookGroup::text() const {
  const std::string start = matcher.empty() ? "" : fmt::format("\"matcher\": {}, ", json::serialize(matcher));
  return fmt::format("{{{}\"hooks\": [{}]}}", start, handler);
}

std::vector<HookGroup> hook_groups(HookHost host, const HookWishes& wishes) {
  return host == HookHost::claude_code ? claude_groups(wishes) : codex_groups(wishes);
}

bool is_our_group(HookHost host, std::string_view group) {
  boost::system::error_code error;
  const json::value value = json::parse(group, error);
  if (error || !value.is_object()) return false;
  const json::value* handlers = value.get_object().if_contains("hooks");
  if (handlers == nullptr || !handlers->is_array() || handlers->get_array().empty()) return false;
  return std::ranges::all_of(handlers->get_array(),
                             [&](const json::value& one) { return is_our_handler(host, one); });
}

std::string_view hooks_file(HookHost host) {
  return host == HookHost::claude_code ? ".claude/settings.json" : ".codex/hooks.json";
}

const HostSigns& signs_of(HookHost host) { return kSigns[static_cast<std::size_t>(host)]; }

}  // namespace leasehold
