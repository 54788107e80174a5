// Claude Code itself, whose model calls the tools.
#include "agents/agent_scene.h"

namespace leasehold {
namespace {

class ClaudeWithTools : public AgentScene {
 protected:
  void SetUp() override {
    AgentScene::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    // What its user is asked for once.
    std::ofstream(path(".claude/settings.local.json"))
        << R"({"enableAllProjectMcpServers": true, "permissions": {"allow": ["mcp__lease"]}})";
  }
  static Step tool(const std::string& name, json::value input, const std::string& until = {}) {
    return {"mcp__lease__" + name, std::move(input), until};
  }
};

TEST_F(ClaudeWithTools, LeasesByAToolAndWritesThroughItsHooks) {
  const auto claude =
      start(Agent::claude, "claude.log",
            prepared(Agent::claude, "src/a.txt",
                     {tool("lease_acquire", {{"paths", {"src/a.txt"}}, {"reason", "by a tool"}}),
                      edit(Agent::claude, "src/a.txt", "one", "two"), shell(Agent::claude, "touch held"),
                      tool("lease_release", {{"all", true}}, "denied"),
                      shell(Agent::claude, "touch released"), shell(Agent::claude, "true", "end")}));
  ASSERT_TRUE(comes("held")) << claude->out() << read("claude.log");
  EXPECT_EQ(read("src/a.txt"), "two\n")
      << "what its tool leased is its own at the gate: " << read("claude.log");
  const Ran other = as("x", {"acquire", "src/a.txt"});
  EXPECT_NE(other.exit, 0);
  EXPECT_TRUE(contains(other.err, "by a tool") || contains(other.err, "claude-code")) << other.err;

  write("denied", "");
  ASSERT_TRUE(comes("released")) << read("claude.log");
  EXPECT_EQ(as("x", {"acquire", "src/a.txt"}).exit, 0);
  write("end", "");
  EXPECT_EQ(claude->wait().exit, 0);
}

TEST_F(ClaudeWithTools, IsToldWhoHoldsTheFile) {
  ASSERT_EQ(as("x", {"acquire", "src/a.txt"}).exit, 0);

  EXPECT_EQ(
      start(Agent::claude, "claude.log", {tool("lease_acquire", {{"paths", {"src/a.txt"}}})})->wait().exit,
      0);

  const std::string told = read("claude.log");
  EXPECT_TRUE(contains(told, "busy")) << told;
  EXPECT_TRUE(contains(told, "s-x")) << told;
}

}  // namespace
}  // namespace leasehold
