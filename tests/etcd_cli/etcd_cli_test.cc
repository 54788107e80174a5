// lease and lease-serve step aside for programs that know etcd, and nobody notices.
#include <fmt/format.h>

#include <thread>

#include "scene.h"
#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

class EtcdScene : public Scene {
 protected:
  EtcdScene() { keep_leases_at(url); }

  void keep_leases_at(const std::string& store) const {
    std::ofstream(root() + "/.leasehold.toml")
        << fmt::format("workspace = \"team\"\nstore = \"{}\"\n", store);
  }

  const std::string url = fresh_etcd_url();
};

TEST_F(EtcdScene, AcquireIsSeenByOthersAndGivenBack) {
  const Ran first = as("ann", {"acquire", "src/a.ts"});
  EXPECT_EQ(first.exit, 0) << first.err;

  const Ran second = as("bob", {"acquire", "src/a.ts"});
  EXPECT_EQ(second.exit, 75) << second.out << second.err;
  EXPECT_TRUE(contains(second.err + second.out, "ann"));

  EXPECT_EQ(as("ann", {"release", "src/a.ts"}).exit, 0);
  EXPECT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
}

// What a client says to a server cannot be handed on to another program later.
TEST_F(EtcdScene, ToolsOfAnMcpServerAreAnswered) {
  const Ran served =
      as("ann", {"mcp"},
         R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
         R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})"
         "\n"
         R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
         "\n"
         R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lease_acquire",)"
         R"("arguments":{"paths":["src/a.ts"]}}})"
         "\n");

  EXPECT_EQ(served.exit, 0) << served.err;
  EXPECT_TRUE(contains(served.out, R"("id":1)")) << served.out;
  EXPECT_TRUE(contains(served.out, R"("id":2)")) << served.out;
  EXPECT_TRUE(contains(served.out, "src/a.ts")) << served.out;
}

TEST_F(EtcdScene, AWaiterInAnotherProcessIsServed) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  StartedLease waiter = started("bob", {"acquire", "--wait", "60s", "src/a.ts"});
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));

  EXPECT_EQ(as("ann", {"release", "src/a.ts"}).exit, 0);

  EXPECT_EQ(waiter.wait().exit, 0);
}

// The hook has read its input when it finds out that the store is etcd's.
TEST_F(EtcdScene, AHookReadsItsInputAllTheSame) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  const auto hook = [&](const std::string& file) {
    return as(
        "bob", {"hook", "claude-code"},
        fmt::format(R"({{"session_id":"s-bob","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Edit",)"
                    R"("tool_input":{{"file_path":"{}/{}"}}}})",
                    root(), root(), file));
  };

  EXPECT_TRUE(contains(hook("src/a.ts").out, "deny"));
  EXPECT_FALSE(contains(hook("src/b.ts").out, "deny"));
}

TEST_F(EtcdScene, AListOnStandardInputArrives) {
  EXPECT_EQ(as("ann", {"acquire", "-"}, "src/a.ts\ndocs/x.md\n").exit, 0);

  EXPECT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, 75);
}

TEST_F(EtcdScene, DoctorFindsAndRepairs) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  EXPECT_EQ(as("ann", {"doctor"}).exit, 0) << as("ann", {"doctor"}).out;
  const std::string prefix = url.substr(url.rfind('/') + 1);
  shared_etcd().etcdctl(fmt::format("put {}/w/team/id/nonsense nonsense", prefix));

  const Ran found = as("ann", {"doctor"});
  EXPECT_NE(found.exit, 0);
  EXPECT_TRUE(contains(found.out, "id/nonsense")) << found.out;

  EXPECT_EQ(as("ann", {"doctor", "--repair"}).exit, 0);
  EXPECT_EQ(as("ann", {"doctor"}).exit, 0) << as("ann", {"doctor"}).out;
  EXPECT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 75) << "ann still holds it";
}

TEST_F(EtcdScene, ACommandUnderALeaseOutlivesTheLeader) {
  EtcdCluster cluster(3);
  keep_leases_at(cluster.url());
  StartedLease run = started(
      "ann", {"run", "src/a.ts", "--", "sh", "-c", "touch began; while [ ! -e end ]; do sleep 0.1; done"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/began"); })) << run.err();

  cluster.kill_hard(cluster.wait_for_leader());

  EXPECT_TRUE(eventually([&] { return as("bob", {"acquire", "src/a.ts"}).exit == 75; }));
  add("end");
  EXPECT_EQ(run.wait().exit, 0);
  EXPECT_TRUE(eventually([&] { return as("bob", {"acquire", "src/a.ts"}).exit == 0; }));
}

// Long enough for every connection to be given up.
TEST_F(EtcdScene, WhoWaitsOrRunsWhileAllMembersAreAwayGetsBackToThem) {
  EtcdCluster cluster(1);
  keep_leases_at(cluster.url());
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  StartedLease waiter = started("bob", {"acquire", "--wait", "60s", "src/a.ts"});
  StartedLease run = started("cy", {"run", "src/b.ts", "--ttl", "20s", "--", "sh", "-c",
                                    "touch began; while [ ! -e end ]; do sleep 0.1; done"});
  ASSERT_TRUE(eventually([&] { return waits("bob") && std::filesystem::exists(root() + "/began"); }));

  cluster.kill_hard(0);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  cluster.start(0);
  cluster.wait_until_ready(0);

  EXPECT_TRUE(eventually([&] { return as("ann", {"release", "src/a.ts"}).exit == 0; }));
  EXPECT_EQ(waiter.wait().exit, 0) << waiter.err();
  const auto held = [&] { return as("cy", {"status", "src/b.ts", "--json"}).out; };
  EXPECT_TRUE(eventually([&] { return !contains(held(), "\"renewal_count\":0"); })) << held();
  add("end");
  EXPECT_EQ(run.wait().exit, 0) << run.err();
}

TEST_F(EtcdScene, ADaemonServesIt) {
  const std::string socket = root() + "/sock";
  StartedLease daemon = started("server", {"serve", "--listen", "unix:" + socket});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(socket); })) << daemon.err();
  const auto over_http = [&](const std::string& agent, std::vector<std::string> words) {
    words.insert(words.end(), {"--store", "http+unix:" + socket});
    return as(agent, words);
  };

  ASSERT_EQ(over_http("ann", {"acquire", "src/a.ts"}).exit, 0) << daemon.err();
  EXPECT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 75) << "it is one store";
  StartedLease waiter =
      started("bob", {"acquire", "--wait", "60s", "src/a.ts", "--store", "http+unix:" + socket});
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));
  EXPECT_EQ(as("ann", {"release", "src/a.ts"}).exit, 0);
  EXPECT_EQ(waiter.wait().exit, 0) << waiter.err();

  ::kill(daemon.pid(), SIGTERM);
  EXPECT_EQ(daemon.wait().exit, 0) << daemon.err();
}

TEST_F(EtcdScene, AClusterThatIsNotThereIsUnavailableInWordsOfOurs) {
  keep_leases_at("etcd://127.0.0.1:1?timeout_ms=300");

  const Ran ran = as("ann", {"acquire", "src/a.ts"});

  EXPECT_EQ(ran.exit, 69) << ran.out;
  EXPECT_TRUE(contains(ran.err, "etcd://127.0.0.1:1 does not answer")) << ran.err;
}

}  // namespace
}  // namespace leasehold
