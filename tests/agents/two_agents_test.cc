// What `lease init` is for: two agents that never heard of leases, and one file.
#include <gtest/gtest.h>

#include "agent_scene.h"

namespace leasehold {
namespace {

class TwoAgents : public AgentScene, public testing::WithParamInterface<Agent> {
 protected:
  Agent one() const { return GetParam(); }
  Agent other() const { return one() == Agent::claude ? Agent::codex : Agent::claude; }
};

std::string test_name(const testing::TestParamInfo<Agent>& named) {
  constexpr const char* kNames[] = {"Claude", "Codex", "Gemini", "Copilot", "OpenCode"};
  return kNames[static_cast<std::size_t>(named.param)];
}

INSTANTIATE_TEST_SUITE_P(Agents, TwoAgents, testing::Values(Agent::claude, Agent::codex), test_name);

// What holds for every host whose program can be run here.
class AnyAgent : public AgentScene, public testing::WithParamInterface<Agent> {
 protected:
  Agent one() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Agents, AnyAgent,
                         testing::Values(Agent::claude, Agent::codex, Agent::gemini, Agent::copilot,
                                         Agent::opencode),
                         test_name);

TEST_P(TwoAgents, AWriteToAHeldFileIsDeniedAndGoesThroughAfterTheRelease) {
  const auto holder = start(other(), "holder.log",
                            prepared(other(), "src/a.txt",
                                     {edit(other(), "src/a.txt", "one", "two"), shell(other(), "touch held"),
                                      lease(other(), "release src/a.txt", "denied"),
                                      shell(other(), "touch released"), shell(other(), "true", "end")}));
  ASSERT_TRUE(comes("held")) << holder->out();
  ASSERT_EQ(read("src/a.txt"), "two\n");

  const auto writer = start(one(), "writer.log",
                            prepared(one(), "src/a.txt",
                                     {edit(one(), "src/a.txt", "two", "three"), shell(one(), "touch denied"),
                                      edit(one(), "src/a.txt", "two", "four", "go")}));
  ASSERT_TRUE(comes("denied")) << writer->out();
  EXPECT_EQ(read("src/a.txt"), "two\n") << "the write was not let through";
  const std::string told = read("writer.log");
  EXPECT_TRUE(contains(told, "src/a.txt is leased by " + name_of(other()))) << told;
  EXPECT_TRUE(contains(told, "try this write again once")) << told;

  ASSERT_TRUE(comes("released"));
  sleep(2);  // The one retry is due a second after the denial.
  write("go", "");

  EXPECT_EQ(writer->wait().exit, 0);
  EXPECT_EQ(read("src/a.txt"), "four\n") << read("writer.log");
  write("end", "");
  EXPECT_EQ(holder->wait().exit, 0);
}

TEST_P(TwoAgents, TwoSessionsOfOneAgentAreTwoOwners) {
  const auto holder = start(one(), "holder.log",
                            prepared(one(), "src/a.txt",
                                     {edit(one(), "src/a.txt", "one", "two"), shell(one(), "touch held"),
                                      shell(one(), "true", "end")}));
  ASSERT_TRUE(comes("held")) << holder->out();
  ASSERT_EQ(read("src/a.txt"), "two\n") << read("holder.log");

  // Over the whole file: for Codex that is a patch through the shell.
  const Step over =
      one() == Agent::claude
          ? Step{"Write", {{"file_path", path("src/a.txt")}, {"content", "three\n"}}}
          : shell(one(),
                  "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.txt\n@@\n-two\n+three\n"
                  "*** End Patch\nEOF");
  EXPECT_EQ(start(one(), "writer.log", prepared(one(), "src/a.txt", {over}))->wait().exit, 0);

  EXPECT_EQ(read("src/a.txt"), "two\n");
  EXPECT_TRUE(contains(read("writer.log"), "src/a.txt is leased by")) << read("writer.log");
  write("end", "");
  EXPECT_EQ(holder->wait().exit, 0);
}

TEST_P(AnyAgent, AWriteToAHeldFileIsDeniedAndOthersAreHeldUntilTheEnd) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.txt"}).exit, 0);

  const auto agent = start(one(), "agent.log",
                           prepared(one(), "src/a.txt",
                                    {edit(one(), "src/a.txt", "one", "two"), add(one(), "src/new.txt"),
                                     shell(one(), "touch held"), shell(one(), "true", "end")}));
  ASSERT_TRUE(comes("held")) << agent->out();

  EXPECT_EQ(read("src/a.txt"), "one\n");
  EXPECT_TRUE(contains(read("agent.log"), "src/a.txt is leased by ann")) << read("agent.log");
  EXPECT_EQ(read("src/new.txt"), "new\n") << read("agent.log");
  EXPECT_TRUE(contains(as("x", {"status", "src/new.txt"}).out, name_of(one()))) << as("x", {"ls"}).out;

  write("end", "");
  EXPECT_EQ(agent->wait().exit, 0);
  EXPECT_TRUE(is_free("src/new.txt")) << as("x", {"ls"}).out;
}

TEST_P(AnyAgent, AShellsWriteToAHeldFileIsDenied) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.txt"}).exit, 0);

  const Ran ran = start(one(), "shell.log",
                        {shell(one(), "cd src && sed -i s/one/two/ a.txt"), shell(one(), "cat src/a.txt")})
                      ->wait();

  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(read("src/a.txt"), "one\n");
  EXPECT_TRUE(contains(read("shell.log"), "src/a.txt is leased by ann")) << read("shell.log");
}

TEST_P(AnyAgent, WhatItTakesInItsShellIsItsOwn) {
  const Ran ran =
      start(one(), "agent.log",
            prepared(one(), "src/a.txt",
                     {lease(one(), "acquire src/a.txt > held"), edit(one(), "src/a.txt", "one", "two")}))
          ->wait();

  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(contains(read("held"), "/src/a.txt")) << read("agent.log");
  EXPECT_EQ(read("src/a.txt"), "two\n") << read("held") << read("agent.log");
}

TEST_P(AnyAgent, AScriptThatWritesAHeldFileIsNoticed) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.txt"}).exit, 0);
  write("script", "echo two > src/a.txt\n");

  const Ran ran = start(one(), "script.log", {shell(one(), "sh ./script"), shell(one(), "true")})->wait();

  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(read("src/a.txt"), "two\n") << "nobody could see it before";
  const std::string history = as("x", {"history", "src/a.txt"}).out;
  EXPECT_TRUE(contains(history, name_of(one()))) << history;
  EXPECT_TRUE(contains(history, "changed while a command of its ran (") && contains(history, "held by ann"))
      << history;
  EXPECT_TRUE(contains(read("script.log"), "src/a.txt (leased by ann")) << read("script.log");
}

TEST_P(TwoAgents, TheEndOfASessionFreesItsFiles) {
  const auto holder =
      start(one(), "holder.log",
            {add(one(), "src/new.txt"), shell(one(), "touch held"), shell(one(), "true", "end")});
  ASSERT_TRUE(comes("held")) << holder->out();
  EXPECT_FALSE(is_free("src/new.txt"));

  write("end", "");
  EXPECT_EQ(holder->wait().exit, 0);

  EXPECT_TRUE(is_free("src/new.txt"));
  EXPECT_EQ(read("src/new.txt"), "new\n");
}

TEST_P(AnyAgent, AKilledAgentsFilesAreFreeAtOnce) {
  const auto holder = start(one(), "holder.log",
                            prepared(one(), "src/a.txt",
                                     {edit(one(), "src/a.txt", "one", "two"), shell(one(), "touch held"),
                                      shell(one(), "true", "never")}));
  ASSERT_TRUE(comes("held")) << holder->out();
  EXPECT_FALSE(is_free("src/a.txt"));
  holder->signal(SIGKILL);
  holder->wait();

  EXPECT_EQ(as("ann", {"gate", "src/a.txt"}).exit, 0);
  EXPECT_TRUE(contains(as("x", {"history", "src/a.txt"}).out, "owner_dead"));
}

TEST_P(AnyAgent, WithoutLeaseNoWriteGoesThroughUncheckedUnlessTheProjectSaysSo) {
  take_lease_off_path();
  EXPECT_EQ(start(one(), "closed.log", {add(one(), "src/new.txt")})->wait().exit, 0);
  EXPECT_FALSE(std::filesystem::exists(path("src/new.txt"))) << read("closed.log");

  write(".leasehold.toml", "gate_fail_open = true\n");
  // Copilot runs Claude Code's hooks, too.
  ASSERT_EQ(as("x", {"init", "--agents", "claude-code," + name_of(one())}).exit, 0);
  EXPECT_EQ(start(one(), "open.log", {add(one(), "src/new.txt")})->wait().exit, 0);
  EXPECT_EQ(read("src/new.txt"), "new\n") << read("open.log");
}

class WithSubagents : public AnyAgent {};

// Gemini's and Copilot's tool calls do not tell which subagent they are of.
INSTANTIATE_TEST_SUITE_P(Agents, WithSubagents, testing::Values(Agent::claude, Agent::codex, Agent::opencode),
                         test_name);

TEST_P(WithSubagents, ASubagentIsAnOwnerOfItsOwnUntilItStops) {
  const auto main =
      start(one(), "main.log",
            {subagent(one(), "sub.log",
                      {add(one(), "src/new.txt"), lease(one(), "ls --json > during"),
                       lease(one(), "gate src/new.txt && touch own"), shell(one(), "touch ready", "seen")}),
             lease(one(), "ls --json > after", "ready"), shell(one(), "true", "end")});
  ASSERT_TRUE(has_lines("sub.log", 3)) << main->out();
  const std::string agent = name_of(one());
  const json::value during = json::parse(read("during"));
  const std::string sub(during.at("leases").at(0).at("agent_id").as_string());
  EXPECT_TRUE(sub.starts_with(agent + "/")) << sub;
  EXPECT_TRUE(std::filesystem::exists(path("own")))
      << "its shell acts in the same session: " << read("sub.log");

  write("seen", "");
  const bool handed_over = eventually([&] {
    const json::array now = leases();
    // Besides the file, what its shell wrote.
    return !now.empty() && std::ranges::all_of(now, [&](const json::value& lease) {
      return lease.at("agent_id").as_string() == agent &&
             lease.at("session_id") == during.at("leases").at(0).at("session_id");
    });
  });
  EXPECT_TRUE(handed_over) << "when it stops, its main agent has its files";

  write("end", "");
  EXPECT_EQ(main->wait().exit, 0);
  EXPECT_TRUE(is_free("src/new.txt"));
}

TEST_F(AgentScene, CodexAsksWhereItsHooksAreInToml) {
  ASSERT_EQ(as("x", {"init", "--uninstall"}).exit, 0);
  std::filesystem::create_directories(path(".codex"));
  write(
      ".codex/config.toml",
      "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"touch stopped\"\ntimeout = 5\n");
  ASSERT_EQ(as("x", {"init", "--agents", "codex"}).exit, 0);
  ASSERT_EQ(as("ann", {"acquire", "src/a.txt"}).exit, 0);

  const Ran ran = start(Agent::codex, "codex.log", {edit(Agent::codex, "src/a.txt", "one", "two")})->wait();

  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(read("src/a.txt"), "one\n");
  EXPECT_TRUE(contains(read("codex.log"), "src/a.txt is leased by ann")) << read("codex.log");
  EXPECT_TRUE(std::filesystem::exists(path("stopped"))) << "its own hook still runs";
  EXPECT_FALSE(contains(ran.err, "prefer a single representation")) << ran.err;
}

}  // namespace
}  // namespace leasehold
