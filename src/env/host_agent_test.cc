#include "env/host_agent.h"

#include <gtest/gtest.h>

#include <map>

namespace leasehold {
namespace {

using Set = std::map<std::string, std::string>;

std::string found(const Set& set) {
  const auto agent = host_agent([&](const char* name) -> const char* {
    const auto variable = set.find(name);
    return variable == set.end() ? nullptr : variable->second.c_str();
  });
  return agent ? std::string(agent->name) + "/" + agent->session_id : "none";
}

// What each agent sets, as far as known.
TEST(HostAgent, IsKnownByWhatItSets) {
  EXPECT_EQ(found({{"CLAUDECODE", "1"},
                   {"CLAUDE_CODE_CHILD_SESSION", "1"},
                   {"CLAUDE_CODE_SESSION_ID", "c-1"},
                   {"CLAUDE_PROJECT_DIR", "/p"},
                   {"CLAUDE_PID", "7"}}),
            "claude-code/c-1");
  EXPECT_EQ(found({{"CODEX_THREAD_ID", "t-1"}, {"CODEX_SANDBOX", "seatbelt"}}), "codex/t-1");
  EXPECT_EQ(found({{"CODEX_THREAD_ID", "t-2"}, {"CODEX_SESSION_ID", "t-1"}}), "codex/t-1") << "a subagent";
  EXPECT_EQ(found({{"CODEX_SANDBOX_NETWORK_DISABLED", "1"}}), "codex/");
  EXPECT_EQ(found({{"GEMINI_SESSION_ID", "g-1"}, {"GEMINI_PROJECT_DIR", "/p"}, {"CLAUDE_PROJECT_DIR", "/p"}}),
            "gemini/g-1");
  EXPECT_EQ(found({{"COPILOT_CLI", "1"}, {"COPILOT_PROJECT_DIR", "/p"}, {"CLAUDE_PROJECT_DIR", "/p"}}),
            "copilot/");
  EXPECT_EQ(found({{"COPILOT_AGENT_SESSION_ID", "p-1"}}), "copilot/p-1");
  EXPECT_EQ(found({{"CURSOR_VERSION", "3"}, {"CURSOR_PROJECT_DIR", "/p"}, {"CLAUDE_PROJECT_DIR", "/p"}}),
            "cursor/");
  EXPECT_EQ(found({{"OPENCODE", "1"}, {"OPENCODE_PID", "7"}}), "opencode/");
  EXPECT_EQ(found({{"CLINE_ACTIVE", "true"}}), "cline/");
}

TEST(HostAgent, IsNobodyWhereNobodySetsAnything) {
  EXPECT_EQ(found({}), "none");
  EXPECT_EQ(found({{"CLAUDECODE", ""}, {"HOME", "/root"}, {"CLAUDE_PROJECT_DIR", "/p"}}), "none");
}

TEST(HostAgent, IsTheOneThatTellsItsSessionWhereTwoAreAround) {
  EXPECT_EQ(found({{"CLAUDECODE", "1"}, {"GEMINI_SESSION_ID", "g-1"}}), "gemini/g-1");
}

}  // namespace
}  // namespace leasehold
