#include "hook/hook_reply.h"

#include <boost/json.hpp>

namespace leasehold {
namespace {

namespace json = boost::json;

// For every agent's hook, 2 means a deliberate "no".
constexpr int kBlocked = 2;

}  // namespace

HookAnswer denial(HookHost host, std::string_view event_name, std::string_view reason) {
  HookAnswer answer = {.reason = std::string(reason)};
  switch (host) {
    // One form serves these three. No key more: Codex rejects an answer with any other, and lets the call
    // through.
    case HookHost::claude_code:
    case HookHost::codex:
    case HookHost::copilot:
      answer.output = json::serialize(json::object{{"hookSpecificOutput",
                                                    {{"hookEventName", event_name},
                                                     {"permissionDecision", "deny"},
                                                     {"permissionDecisionReason", reason}}}});
      break;
    case HookHost::gemini:
      answer.output = json::serialize(json::object{{"decision", "deny"}, {"reason", reason}});
      break;
    // Some versions go by the text, some by the exit status.
    case HookHost::cursor:
      answer.output = json::serialize(
          json::object{{"permission", "deny"}, {"agent_message", reason}, {"user_message", reason}});
      answer.complaint = reason;
      answer.exit_status = kBlocked;
      break;
    case HookHost::opencode:
    case HookHost::windsurf:
      answer.complaint = reason;
      answer.exit_status = kBlocked;
      break;
    case HookHost::cline:
      answer.output = json::serialize(json::object{{"cancel", true}, {"errorMessage", reason}});
      break;
  }
  return answer;
}

HookAnswer allowance(HookHost host, HookMoment moment) {
  if (host != HookHost::cursor || !is_gated(moment)) return {};
  return {.output = R"({"permission":"allow"})"};
}

bool can_tell(HookHost host, HookMoment moment) {
  const bool is_after = moment == HookMoment::after_write || moment == HookMoment::after_read ||
                        moment == HookMoment::after_command;
  const bool is_start = moment == HookMoment::turn_started || moment == HookMoment::session_started;
  switch (host) {
    case HookHost::claude_code:
    case HookHost::codex:
    case HookHost::cline:
      return is_gated(moment) || is_after || is_start;
    case HookHost::gemini:
      return is_after || is_start;
    case HookHost::copilot:
      return is_after || moment == HookMoment::session_started;
    case HookHost::cursor:
    case HookHost::opencode:
      return is_after;
    // It shows what hooks print to its user, not to the model.
    case HookHost::windsurf:
      return false;
  }
  return false;
}

HookAnswer remark(HookHost host, std::string_view event_name, std::string_view text) {
  switch (host) {
    case HookHost::cursor:
      return {.output = json::serialize(json::object{{"additional_context", text}})};
    case HookHost::copilot:
      return {.output = json::serialize(json::object{{"additionalContext", text}})};
    case HookHost::cline:
      return {.output = json::serialize(json::object{{"cancel", false}, {"contextModification", text}})};
    // The plugin adds it to what the tool gave. Windsurf shows it to its user.
    case HookHost::opencode:
    case HookHost::windsurf:
      return {.output = std::string(text)};
    default:
      return {.output = json::serialize(json::object{
                  {"hookSpecificOutput", {{"hookEventName", event_name}, {"additionalContext", text}}}})};
  }
}

}  // namespace leasehold
