// lease steps aside for lease-etcd, and nobody notices.
#include <fmt/format.h>

#include "scene.h"
#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

class EtcdScene : public Scene {
 protected:
  EtcdScene() {
    std::ofstream(root() + "/.leasehold.toml")
        << fmt::format("workspace = \"team\"\nstore = \"{}\"\n", fresh_etcd_url());
  }
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

}  // namespace
}  // namespace leasehold
