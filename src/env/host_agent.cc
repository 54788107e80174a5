#include "env/host_agent.h"

#include <array>

namespace leasehold {
namespace {

struct Signs {
  std::string_view name;
  std::array<const char*, 3> present;  // Any of them, not empty, means that this agent is around.
  std::array<const char*, 2> session;  // Where its session's id is, in this order.
};

// Claude Code comes last among those that set CLAUDE_PROJECT_DIR as an alias: only its own names count for
// it. What an agent sets for its hooks, its shell tool and its MCP servers differs; each name here is set for
// at least one of them. A subagent of Codex has a thread of its own, in the session of its main agent.
constexpr Signs kAgents[] = {
    {"claude-code", {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID"}, {"CLAUDE_CODE_SESSION_ID"}},
    {"codex",
     {"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"},
     {"CODEX_SESSION_ID", "CODEX_THREAD_ID"}},
    {"gemini", {"GEMINI_CLI", "GEMINI_SESSION_ID"}, {"GEMINI_SESSION_ID"}},
    {"copilot", {"COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"}, {"COPILOT_AGENT_SESSION_ID"}},
    {"cursor", {"CURSOR_AGENT", "CURSOR_VERSION"}, {"CURSOR_CONVERSATION_ID"}},
    {"opencode", {"OPENCODE"}, {"OPENCODE_SESSION_ID"}},
    {"cline", {"CLINE_ACTIVE"}, {"CLINE_TASK_ID"}},
};

}  // namespace

std::optional<HostAgent> host_agent(const Variables& variables) {
  const auto value = [&](const char* name) -> std::string_view {
    const char* const text = name == nullptr ? nullptr : variables(name);
    return text == nullptr ? std::string_view() : text;
  };
  std::optional<HostAgent> first;
  for (const Signs& agent : kAgents) {
    bool is_present = false;
    for (const char* name : agent.present) is_present = is_present || !value(name).empty();
    if (!is_present) continue;
    for (const char* name : agent.session) {
      if (!value(name).empty()) return HostAgent{agent.name, std::string(value(name))};
    }
    if (!first) first = HostAgent{agent.name, {}};
  }
  return first;
}

}  // namespace leasehold
