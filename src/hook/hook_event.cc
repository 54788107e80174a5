#include "hook/hook_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "hook/patch_paths.h"

namespace leasehold {
namespace {

namespace json = boost::json;

struct HostName {
  HookHost host;
  std::string_view name;
};
constexpr HostName kHosts[] = {{HookHost::claude_code, "claude-code"}, {HookHost::codex, "codex"}};

struct EventName {
  std::string_view name;
  HookMoment moment;
};
// PreToolUse depends on the tool.
constexpr EventName kEvents[] = {
    {"UserPromptSubmit", HookMoment::turn_started}, {"Stop", HookMoment::turn_stopped},
    {"StopFailure", HookMoment::turn_failed},       {"SubagentStop", HookMoment::subagent_stopped},
    {"SessionEnd", HookMoment::session_ended},
};

// Where a tool names the file that it writes.
struct WritingTool {
  std::string_view tool;
  std::string_view field;
};
constexpr WritingTool kWritingTools[] = {
    {"Write", "file_path"},
    {"Edit", "file_path"},
    {"MultiEdit", "file_path"},
    {"NotebookEdit", "notebook_path"},
};

const json::value* find(const json::object& object, std::string_view name) {
  return object.if_contains(name);
}

std::string text(const json::object& object, std::string_view name) {
  const json::value* value = find(object, name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::unexpected<Error> bad(std::string what) {
  return fail(Code::invalid_argument, fmt::format("The hook's input {}.", what));
}

std::string under(const std::string& folder, const std::string& path) {
  return folder.empty() || path.starts_with('/') ? path : folder + '/' + path;
}

// What a tool call is about to write or read. A tool that names no file where it should is not let through:
// it may well know another way to say it.
Result<void> look_at_tool(HookEvent& event, const json::object& payload) {
  const std::string tool = text(payload, "tool_name");
  const json::value* input = find(payload, "tool_input");
  const json::object empty;
  const json::object& arguments = input != nullptr && input->is_object() ? input->get_object() : empty;

  if (const auto* writes = std::ranges::find(kWritingTools, tool, &WritingTool::tool);
      writes != std::end(kWritingTools)) {
    event.moment = HookMoment::before_write;
    event.paths = {text(arguments, writes->field)};
    if (event.paths.front().empty()) return bad(fmt::format("has no {} for {}", writes->field, tool));
  } else if (tool == "Read") {
    event.moment = HookMoment::before_read;
    event.paths = {text(arguments, "file_path")};
  } else if (tool == "apply_patch") {
    event.moment = HookMoment::before_write;
    auto paths = patch_paths(text(arguments, "command"));
    if (!paths || paths->empty()) return bad("is an apply_patch call whose patch names no file");
    event.paths = std::move(*paths);
  } else if (tool == "Bash") {
    event.moment = HookMoment::before_command;
    event.command = text(arguments, "command");
    if (auto patch = shell_patch(event.command); patch && !patch->paths.empty()) {
      event.moment = HookMoment::before_write;
      for (const std::string& path : patch->paths) event.paths.push_back(under(patch->folder, path));
    }
  }
  return {};
}

}  // namespace

std::string_view word(HookHost host) { return std::ranges::find(kHosts, host, &HostName::host)->name; }

std::optional<HookHost> host_named(std::string_view name) {
  const auto* found = std::ranges::find(kHosts, name, &HostName::name);
  if (found == std::end(kHosts)) return std::nullopt;
  return found->host;
}

Result<HookEvent> parse_hook(HookHost, std::string_view payload) {
  boost::system::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  const json::value value = json::parse(payload, error, {}, options);
  if (error) return bad(fmt::format("is not JSON: {}", error.message()));
  if (!value.is_object()) return bad("is no JSON object");
  const json::object& object = value.get_object();

  HookEvent event = {.event_name = text(object, "hook_event_name"),
                     .session_id = text(object, "session_id"),
                     .subagent_id = text(object, "agent_id"),
                     .cwd = text(object, "cwd")};
  if (event.event_name.empty()) return bad("names no event (hook_event_name)");
  if (event.event_name == "PreToolUse") {
    if (auto looked = look_at_tool(event, object); !looked) return fail(looked.error());
  } else if (const auto* known = std::ranges::find(kEvents, event.event_name, &EventName::name);
             known != std::end(kEvents)) {
    event.moment = known->moment;
  }
  if (event.moment != HookMoment::other && event.session_id.empty())
    return bad("names no session (session_id)");
  return event;
}

std::string deny_text(std::string_view event_name, std::string_view reason) {
  return json::serialize(json::object{{"hookSpecificOutput",
                                       {{"hookEventName", event_name},
                                        {"permissionDecision", "deny"},
                                        {"permissionDecisionReason", reason}}}});
}

}  // namespace leasehold
