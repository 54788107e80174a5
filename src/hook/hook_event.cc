#include "hook/hook_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <memory>
#include <span>

#include "hook/surrogates.h"
#include "hook/tool_call.h"
#include "util/stable_hash.h"

namespace leasehold {
namespace {

namespace json = boost::json;

// Which of a call's two ends an event reports, or what else it means.
struct EventName {
  std::string_view name;
  HookMoment moment;
};
// A name means the same with every host that has it.
constexpr EventName kEvents[] = {
    {"UserPromptSubmit", HookMoment::turn_started},       // Claude Code, Codex, Copilot, Cline
    {"Stop", HookMoment::turn_stopped},                   // Claude Code, Codex, Copilot
    {"StopFailure", HookMoment::turn_failed},             // Claude Code
    {"SubagentStop", HookMoment::subagent_stopped},       // Claude Code, Codex
    {"SessionStart", HookMoment::session_started},        // Claude Code, Codex, Copilot, Gemini
    {"SessionEnd", HookMoment::session_ended},            // Claude Code, Codex, Copilot, Gemini
    {"BeforeAgent", HookMoment::turn_started},            // Gemini
    {"AfterAgent", HookMoment::turn_stopped},             // Gemini
    {"beforeSubmitPrompt", HookMoment::turn_started},     // Cursor
    {"stop", HookMoment::turn_stopped},                   // Cursor
    {"sessionStart", HookMoment::session_started},        // Cursor
    {"sessionEnd", HookMoment::session_ended},            // Cursor
    {"chat.message", HookMoment::turn_started},           // OpenCode
    {"session.idle", HookMoment::turn_stopped},           // OpenCode
    {"session.deleted", HookMoment::session_ended},       // OpenCode
    {"pre_user_prompt", HookMoment::turn_started},        // Windsurf
    {"post_cascade_response", HookMoment::turn_stopped},  // Windsurf
    {"TaskStart", HookMoment::turn_started},              // Cline
    {"TaskResume", HookMoment::turn_started},             // Cline
    {"TaskCancel", HookMoment::turn_stopped},             // Cline
    {"TaskComplete", HookMoment::turn_stopped},           // Cline: one may still go on with it.
};

constexpr std::string_view kBeforeTool[] = {"PreToolUse",           "BeforeTool",     "preToolUse",
                                            "beforeShellExecution", "beforeReadFile", "tool.execute.before"};

constexpr std::string_view kAfterTool[] = {"PostToolUse", "PostToolUseFailure", "AfterTool",
                                           "postToolUse", "postToolUseFailure", "tool.execute.after"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

const json::value kNothing;

const json::value& at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr ? kNothing : *value;
}

std::string text(const json::object& object, std::string_view name) {
  const json::value& value = at(object, name);
  return value.is_string() ? std::string(value.get_string()) : std::string();
}

std::string first_of_list(const json::object& object, std::string_view name) {
  const json::value& list = at(object, name);
  if (!list.is_array() || list.get_array().empty() || !list.get_array().front().is_string()) return {};
  return std::string(list.get_array().front().get_string());
}

std::string sentence(std::string_view what) { return fmt::format("The hook's input {}.", what); }

std::unexpected<Error> bad(std::string_view what) { return fail(Code::invalid_argument, sentence(what)); }

// A host's report in the words of none.
struct Report {
  HookEvent event;
  bool is_before_tool = false;
  bool is_after_tool = false;
  std::string tool;
  const json::value* arguments = &kNothing;
  std::shared_ptr<const json::value>
      own_arguments;  // What `arguments` points to, if it is not in the payload.
};

// Copilot and Cursor also run the hooks that Claude Code was given. Claude Code tells no time, and has no
// conversations.
HookHost real_host(HookHost host, const json::object& payload) {
  if (host != HookHost::claude_code) return host;
  if (payload.contains("conversation_id")) return HookHost::cursor;
  return payload.contains("timestamp") ? HookHost::copilot : host;
}

Report plain_report(HookHost host, const json::object& payload) {
  Report report;
  report.event = {.event_name = text(payload, "hook_event_name"),
                  .session_id = text(payload, host == HookHost::cursor ? "conversation_id" : "session_id"),
                  .subagent_id = text(payload, "agent_id"),
                  .cwd = text(payload, "cwd"),
                  .call_id = text(payload, "tool_use_id")};
  report.tool = text(payload, "tool_name");
  report.arguments = &at(payload, "tool_input");
  if (host == HookHost::copilot) {  // In VS Code.
    if (report.event.event_name.empty()) report.event.event_name = text(payload, "hookEventName");
    if (report.event.session_id.empty()) report.event.session_id = text(payload, "sessionId");
  }
  if (host != HookHost::cursor) return report;
  if (report.event.session_id.empty()) report.event.session_id = text(payload, "session_id");
  if (report.event.cwd.empty()) report.event.cwd = first_of_list(payload, "workspace_roots");
  return report;
}

// Its events for a shell and for reads have the arguments in themselves.
Report cursor_report(const json::object& payload, const json::value& whole) {
  Report report = plain_report(HookHost::cursor, payload);
  report.event.subagent_id.clear();
  const bool is_shell = report.event.event_name == "beforeShellExecution";
  if (!is_shell && report.event.event_name != "beforeReadFile") return report;
  report.tool = is_shell ? "Shell" : "Read";
  report.arguments = &whole;
  return report;
}

// The plugin that lease init writes speaks this one.
Report opencode_report(const json::object& payload) {
  Report report;
  report.event = {.event_name = text(payload, "event"),
                  .session_id = text(payload, "session"),
                  .subagent_id = text(payload, "subagent"),
                  .cwd = text(payload, "directory")};
  report.tool = text(payload, "tool");
  report.arguments = &at(payload, "args");
  return report;
}

Report windsurf_report(const json::object& payload) {
  Report report;
  report.event = {.event_name = text(payload, "agent_action_name"),
                  .session_id = text(payload, "trajectory_id")};
  report.arguments = &at(payload, "tool_info");
  if (report.arguments->is_object()) report.event.cwd = text(report.arguments->get_object(), "cwd");
  report.is_before_tool =
      report.event.event_name.starts_with("pre_") && report.event.event_name != "pre_user_prompt";
  report.is_after_tool = report.event.event_name.starts_with("post_") &&
                         !report.event.event_name.starts_with("post_cascade_response");
  report.tool = report.event.event_name.substr(report.event.event_name.find('_') + 1);
  return report;
}

Report cline_report(const json::object& payload) {
  Report report;
  report.event = {.event_name = text(payload, "hookName"),
                  .session_id = text(payload, "taskId"),
                  .cwd = first_of_list(payload, "workspaceRoots")};
  const json::value& call =
      at(payload, report.event.event_name == "PostToolUse" ? "postToolUse" : "preToolUse");
  if (!call.is_object()) return report;
  report.tool = text(call.get_object(), "toolName");
  report.arguments = &at(call.get_object(), "parameters");
  return report;
}

// Copilot's hooks under names like preToolUse are told neither their names nor Claude Code's: what is in the
// report tells which one it is.
Report copilot_report(const json::object& payload) {
  Report report;
  report.event = {.session_id = text(payload, "sessionId"), .cwd = text(payload, "cwd")};
  report.tool = text(payload, "toolName");
  report.arguments = &at(payload, "toolArgs");
  if (report.arguments->is_string()) {  // Some versions write it down.
    boost::system::error_code error;
    report.own_arguments =
        std::make_shared<const json::value>(json::parse(report.arguments->get_string(), error));
    if (!error) report.arguments = report.own_arguments.get();
  }
  if (!report.tool.empty()) {
    const bool is_over = payload.contains("toolResult") || payload.contains("error");
    report.event.event_name = is_over ? "PostToolUse" : "PreToolUse";
  } else if (payload.contains("prompt")) {
    report.event.event_name = "UserPromptSubmit";
  } else if (payload.contains("source")) {
    report.event.event_name = "SessionStart";
  } else if (payload.contains("stopReason")) {
    report.event.event_name = "Stop";
  } else if (payload.contains("reason")) {
    report.event.event_name = "SessionEnd";
  } else {
    report.event.event_name = "unknown";
  }
  return report;
}

Report read_report(HookHost host, const json::value& whole) {
  const json::object& payload = whole.get_object();
  switch (host) {
    case HookHost::cursor:
      return cursor_report(payload, whole);
    case HookHost::opencode:
      return opencode_report(payload);
    case HookHost::windsurf:
      return windsurf_report(payload);
    case HookHost::cline:
      return cline_report(payload);
    case HookHost::copilot:
      return payload.contains("sessionId") && !payload.contains("hook_event_name") &&
                     !payload.contains("hookEventName")
                 ? copilot_report(payload)
                 : plain_report(host, payload);
    default:
      return plain_report(host, payload);
  }
}

// Sessions have names of letters, digits and "._:-". Another becomes one of these with a mark of its own: two
// sessions must not become one.
std::string session_name(std::string name) {
  constexpr std::size_t kMost = 128;
  const std::string told = name;
  const auto is_plain = [](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z');
  };
  for (char& letter : name) {
    if (!is_plain(letter) && !std::string_view("._:").contains(letter)) letter = '-';
  }
  if (!name.empty() && !is_plain(name.front())) name.insert(0, "s");
  if (name == told && name.size() <= kMost) return name;
  const std::string mark = "-" + stable_hash({told}).substr(0, 8);
  return name.substr(0, kMost - mark.size()) + mark;
}

HookMoment moment_before(const ToolCall& call) {
  switch (call.kind) {
    case ToolKind::write:
      return HookMoment::before_write;
    case ToolKind::read:
      return HookMoment::before_read;
    case ToolKind::shell:
      return call.paths.empty() ? HookMoment::before_command : HookMoment::before_write;
    case ToolKind::other:
      break;
  }
  return HookMoment::other;
}

HookMoment moment_after(HookMoment before) {
  switch (before) {
    case HookMoment::before_write:
      return HookMoment::after_write;
    case HookMoment::before_read:
      return HookMoment::after_read;
    case HookMoment::before_command:
      return HookMoment::after_command;
    default:
      return HookMoment::other;
  }
}

// Before or after it.
void look_at_tool(const Report& report, HookEvent& event) {
  auto call = tool_call(report.tool, *report.arguments, event.host == HookHost::cursor);
  if (!call) {
    event.moment = HookMoment::before_write;
    event.flaw = call.error().message;
    return;
  }
  event.moment = moment_before(*call);
  event.paths = std::move(call->paths);
  event.command = std::move(call->command);
  if (call->folder.empty()) return;
  const bool is_absolute = call->folder.starts_with('/') || event.cwd.empty();
  event.cwd = is_absolute ? call->folder : event.cwd + '/' + call->folder;
}

// Which file a broken name means is the host's secret.
bool has_broken_name(const HookEvent& event) {
  const auto is_broken = [](const std::string& text) { return text.contains(kReplacement); };
  return is_broken(event.cwd) || is_broken(event.command) || std::ranges::any_of(event.paths, is_broken);
}

// What is in a tool's arguments is the model's own: a notebook, a tree of settings.
constexpr std::size_t kDepthMax = 500;

}  // namespace

bool is_gated(HookMoment moment) {
  return moment == HookMoment::before_write || moment == HookMoment::before_read ||
         moment == HookMoment::before_command;
}

Result<HookEvent> parse_hook(HookHost host, std::string_view payload) {
  if (payload.size() > kPayloadBytesMax) return bad("is larger than any that a host makes (64 MB)");
  boost::system::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  options.max_depth = kDepthMax;
  const std::optional<std::string> mended = without_lone_surrogates(payload);
  const json::value value = json::parse(mended ? *mended : payload, error, {}, options);
  if (payload.empty()) return bad("is empty");
  if (error) return bad(fmt::format("is not JSON: {}", error.message()));
  if (!value.is_object()) return bad("is no JSON object");

  host = real_host(host, value.get_object());
  const Report report = read_report(host, value);
  HookEvent event = report.event;
  event.host = host;
  if (event.event_name.empty()) return bad("names no event");
  event.session_id = session_name(std::move(event.session_id));
  if (report.is_before_tool || contains(kBeforeTool, event.event_name)) {
    look_at_tool(report, event);
  } else if (report.is_after_tool || contains(kAfterTool, event.event_name)) {
    look_at_tool(report, event);
    event.moment = moment_after(event.moment);
  } else if (const auto* known = std::ranges::find(kEvents, event.event_name, &EventName::name);
             known != std::end(kEvents)) {
    event.moment = known->moment;
  }
  // A subagent that is done has a session around it; its main agent goes on.
  if (event.moment == HookMoment::turn_stopped && host == HookHost::opencode && !event.subagent_id.empty())
    event.moment = HookMoment::subagent_stopped;
  if (mended && has_broken_name(event))
    event.flaw = sentence("has half a character (a lone surrogate) in a path or a command");
  if (event.session_id.empty()) event.flaw = sentence("names no session");
  // What was not understood is over, or nobody waits for what we say.
  if (!event.flaw.empty() && !is_gated(event.moment)) event.moment = HookMoment::other;
  return event;
}

}  // namespace leasehold
