// `lease mcp` on standard input and output: beginnings, waits and ends.
#include <fmt/format.h>

#include "started_server.h"

namespace leasehold {
namespace {

class McpStdio : public Scene {
 protected:
  std::unique_ptr<StartedServer> server(const std::string& agent) const {
    return std::make_unique<StartedServer>(environment(agent), root());
  }
  bool is_held(const std::string& file) const { return contains(as("looker", {"ls"}).out, file); }
};

TEST_F(McpStdio, StartingMakesNothing) {
  const auto ann = server("ann");
  ann->greet();
  EXPECT_TRUE(ann->call(1, "lease_status", "{}").at("leases").as_array().empty());

  EXPECT_FALSE(std::filesystem::exists(root() + "/.leasehold"));
}

TEST_F(McpStdio, TheEndOfItsInputReleasesAndEndsIt) {
  const auto ann = server("ann");
  ann->greet();
  EXPECT_EQ(ann->call(1, "lease_acquire", R"({"paths":["src/a.ts"]})").at("decision"), "granted");
  EXPECT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  EXPECT_TRUE(is_held("src/a.ts"));

  ann->hang_up();

  EXPECT_EQ(ann->wait(), 0);
  EXPECT_FALSE(is_held("src/a.ts"));
  EXPECT_TRUE(is_held("docs/x.md")) << "what the session has otherwise is its own";
}

TEST_F(McpStdio, ASignalReleasesAndEndsIt) {
  const auto ann = server("ann");
  ann->greet();
  ann->call(1, "lease_acquire", R"({"paths":["src/a.ts"]})");

  ann->signal(SIGTERM);

  EXPECT_EQ(WTERMSIG(ann->wait()), SIGTERM);
  EXPECT_FALSE(is_held("src/a.ts"));
}

TEST_F(McpStdio, ASignalEndsItThoughItsClientDoesNotRead) {
  const auto ann = server("ann");
  ann->greet();
  ann->call(1, "lease_acquire", R"({"paths":["src/a.ts"]})");
  // Many times what the pipe between us takes.
  for (int i = 2; i < 200; ++i)
    ann->say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/list"}})", i));

  ann->signal(SIGTERM);

  EXPECT_EQ(WTERMSIG(ann->wait()), SIGTERM);
  EXPECT_FALSE(is_held("src/a.ts"));
}

TEST_F(McpStdio, AKilledServersLeasesAreFreeAtOnce) {
  const auto ann = server("ann");
  ann->greet();
  ann->call(1, "lease_acquire", R"({"paths":["src/a.ts"]})");
  EXPECT_NE(as("bob", {"acquire", "src/a.ts"}).exit, 0);

  ann->signal(SIGKILL);
  ann->wait();

  EXPECT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
}

TEST_F(McpStdio, OthersAreServedWhileACallWaits) {
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  const auto ann = server("ann");
  ann->greet();

  ann->ask(1, "lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":600})");
  EXPECT_TRUE(eventually([&] { return waits("ann"); }));
  EXPECT_EQ(ann->call(2, "lease_acquire", R"({"paths":["docs/x.md"]})").at("decision"), "granted");
  EXPECT_EQ(as("bob", {"release", "src/a.ts"}).exit, 0);

  EXPECT_EQ(ann->hear().at("id"), 1);
  EXPECT_TRUE(is_held("src/a.ts"));
}

TEST_F(McpStdio, ACancelledWaitIsNotAnsweredAndLeavesNothing) {
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  const auto ann = server("ann");
  ann->greet();
  ann->ask(1, "lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":600})");
  EXPECT_TRUE(eventually([&] { return waits("ann"); }));

  ann->say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");

  EXPECT_TRUE(eventually([&] { return !waits("ann"); }));
  EXPECT_EQ(as("bob", {"release", "src/a.ts"}).exit, 0);
  EXPECT_FALSE(is_held("src/a.ts"));
  ann->say(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(ann->hear().at("id"), 2) << "and not 1";
}

TEST_F(McpStdio, AWaitEndsWithTheClient) {
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  const auto ann = server("ann");
  ann->greet();
  ann->ask(1, "lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":600})");
  EXPECT_TRUE(eventually([&] { return waits("ann"); }));

  ann->hang_up();

  EXPECT_EQ(ann->wait(), 0);
  EXPECT_FALSE(waits("ann"));
}

TEST_F(McpStdio, WhatIsCancelledTooLateGoesBack) {
  const auto ann = server("ann");
  ann->greet();
  ann->call(1, "lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":5})");

  ann->say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");

  EXPECT_TRUE(eventually([&] { return !is_held("src/a.ts"); }));
}

TEST_F(McpStdio, NonsenseIsAnsweredAndTheNextLineServed) {
  const auto ann = server("ann");
  ann->say("nonsense");
  EXPECT_EQ(ann->hear().at("error").at("code"), -32700);
  ann->say("[]");
  EXPECT_EQ(ann->hear().at("error").at("code"), -32600);
  ann->greet();
  ann->say(std::string(5 << 20, 'x'));
  EXPECT_EQ(ann->hear().at("error").at("code"), -32700);
  EXPECT_TRUE(ann->call(1, "lease_status", "{}").contains("leases"));
}

TEST_F(McpStdio, TwoServersThatNobodyNamedAreTwoOwners) {
  const std::vector<std::string> nobody = {"HOME=" + root(), "USER=u"};
  StartedServer one(nobody, root());
  StartedServer other(nobody, root());
  one.greet("some-editor");
  other.greet("some-editor");

  EXPECT_EQ(one.call(1, "lease_acquire", R"({"paths":["src/a.ts"]})").at("decision"), "granted");
  const auto refused = other.call(1, "lease_acquire", R"({"paths":["src/a.ts"]})");

  EXPECT_EQ(refused.at("decision"), "refused");
  EXPECT_EQ(refused.at("blocked").at(0).at("agent_id"), "some-editor");
}

TEST_F(McpStdio, ItsLeasesAreItsAgentsOnTheCommandLineToo) {
  const auto ann = server("ann");
  ann->greet();
  ann->call(1, "lease_acquire", R"({"paths":["src/a.ts"]})");

  EXPECT_EQ(as("ann", {"gate", "src/a.ts"}).exit, 0);
  EXPECT_NE(as("bob", {"gate", "src/a.ts"}).exit, 0);
}

TEST_F(McpStdio, ASubscriberHearsOfOtherProcesses) {
  const auto ann = server("ann");
  ann->greet();
  ASSERT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, 0);
  ann->say(
      R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"lease://file/src/a.ts"}})");
  EXPECT_EQ(ann->hear().at("id"), 1);

  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);

  const auto notice = ann->hear();
  EXPECT_EQ(notice.at("method"), "notifications/resources/updated");
  EXPECT_EQ(notice.at("params").at("uri"), "lease://file/src/a.ts");
}

TEST_F(McpStdio, AModernSubscriberIsToldUnderItsRequestsId) {
  const auto ann = server("ann");
  ann->say(R"({"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{)"
           R"("resourceSubscriptions":["lease://board"]},"_meta":{)"
           R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
  EXPECT_EQ(ann->hear().at("method"), "notifications/subscriptions/acknowledged");

  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);

  const auto notice = ann->hear();
  EXPECT_EQ(notice.at("method"), "notifications/resources/updated");
  EXPECT_EQ(notice.at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId"), "s");
}

}  // namespace
}  // namespace leasehold
