// Agents themselves, whose model calls the tools that lease init told them of.
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

class AgentWithTools : public AgentScene, public testing::WithParamInterface<Agent> {
 protected:
  // As each calls a tool of a server.
  static Step tool(Agent agent, const std::string& name, const json::value& input) {
    switch (agent) {
      case Agent::claude:
        return {"mcp__lease__" + name, input};
      case Agent::codex:
        return {name, input, {}, "mcp__lease"};
      case Agent::gemini:
        return {"mcp_lease_" + name, input};
      case Agent::copilot:
        return {"lease-" + name, input};
      case Agent::opencode:
        return {"lease_" + name, input};
    }
    return {};
  }
};

INSTANTIATE_TEST_SUITE_P(Agents, AgentWithTools,
                         testing::Values(Agent::claude, Agent::codex, Agent::gemini, Agent::copilot,
                                         Agent::opencode),
                         [](const auto& named) {
                           return std::regex_replace(name_of(named.param), std::regex("-"), "_");
                         });

TEST_P(AgentWithTools, StartsTheServerThatItWasToldOf) {
  const Agent agent = GetParam();
  if (agent == Agent::claude) {
    // What its user is asked for once.
    std::ofstream(path(".claude/settings.local.json"))
        << R"({"enableAllProjectMcpServers": true, "permissions": {"allow": ["mcp__lease"]}})";
  } else {
    // Others read it, too.
    std::filesystem::remove(path(".mcp.json"));
  }

  const auto ran =
      start(agent, "agent.log", {tool(agent, "lease_acquire", {{"paths", {"src/a.txt"}}})})->wait();

  EXPECT_TRUE(contains(read("agent.log"), "granted")) << read("agent.log") << ran.out << ran.err;
  EXPECT_TRUE(contains(read("agent.log"), name_of(agent))) << "its hooks and its tools are one owner";
  EXPECT_TRUE(eventually([&] { return is_free("src/a.txt"); }));
}

}  // namespace
}  // namespace leasehold
