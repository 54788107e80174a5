// The usage example of seed 003, and the scenarios of seed 000, with nothing but the public headers.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "leasehold/keeper.h"
#include "leasehold/open.h"
#include "support/temp_folder.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Seed 003's main(), line by line.
TEST(UsageExample, AcquiresRenewsAndReleases) {
  const TempFolder folder;
  const auto manager =
      open_workspace({.settings = {{"store", "sqlite:" + folder.path() + "/leases"}, {"profile", "job"}}});
  ASSERT_TRUE(manager) << manager.error().message;
  const std::shared_ptr<Client> client = (*manager)->client();

  Caller me;
  me.holder.owner.agent_id = "6f1c9a52-0c35-4b3a-9a53-0d3a1c0e7a11";
  AcquireRequest request = {.caller = me, .ttl = 3600s, .max_renewals = 5, .wait = 30s};
  request.paths = {WantedPath{.path = *(*manager)->key("/tmp/important.txt")}};

  const auto answer = client->acquire_and_wait(request);
  ASSERT_TRUE(answer) << answer.error().message;
  const auto* granted = std::get_if<Granted>(&answer->decision);
  ASSERT_NE(granted, nullptr);
  const Lease& lease = granted->leases.front();
  EXPECT_EQ(lease.max_renewals, 5);

  if (lease.renewal_count < 3) {
    RenewRequest renew = {.caller = me, .ttl = 3600s};
    renew.which.ids = {lease.id};
    const auto renewed = client->renew(renew);
    ASSERT_TRUE(renewed);
    EXPECT_FALSE(renewed->outcomes.front().error);
    EXPECT_EQ(renewed->outcomes.front().lease->renewal_count, 1);
  }

  ReleaseRequest release = {.caller = me};
  release.which.ids = {lease.id};
  const auto released = client->release(release);
  ASSERT_TRUE(released);
  EXPECT_FALSE(released->outcomes.front().error);
  EXPECT_FALSE(*client->is_locked(lease.path));
}

class Project : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"src/foo.ts", "tests/foo.test.ts", "src/foo.spec.ts", "lib/bar.js",
                             "test/bar.test.js", "src/alone.ts", ".leasehold.toml"}) {
      const std::filesystem::path path = folder_.path() + "/" + file;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << "";
    }
    auto opened = open_workspace({.place = folder_.path()});
    ASSERT_TRUE(opened) << opened.error().message;
    workspace_ = std::move(*opened);
  }

  AcquireRequest asking(const std::string& agent, const std::vector<AskedPath>& paths) {
    AcquireRequest request;
    request.caller.holder.owner.agent_id = agent;
    request.caller.holder.pr_id = "PR-005";
    const auto wanted = workspace_->wanted(paths);
    EXPECT_TRUE(wanted) << wanted.error().message;
    request.paths = *wanted;
    return request;
  }
  std::vector<std::string> acquire(const std::string& agent, const std::vector<AskedPath>& paths) {
    const auto answer = workspace_->client()->acquire(asking(agent, paths));
    std::vector<std::string> got;
    if (answer && std::holds_alternative<Granted>(answer->decision)) {
      for (const Lease& lease : std::get<Granted>(answer->decision).leases) got.push_back(lease.path);
    }
    return got;
  }

  TempFolder folder_;
  std::unique_ptr<OpenWorkspace> workspace_;
};

using Paths = std::vector<std::string>;

// Paired file locking: source and tests together, atomically; a missing test is no error.
TEST_F(Project, SourcesComeWithTheirTests) {
  EXPECT_EQ(acquire("ann", {{.path = "src/foo.ts"}}),
            (Paths{"/src/foo.ts", "/src/foo.spec.ts", "/tests/foo.test.ts"}));
  EXPECT_EQ(acquire("ann", {{.path = "lib/bar.js"}}), (Paths{"/lib/bar.js", "/test/bar.test.js"}));
  EXPECT_EQ(acquire("ann", {{.path = "src/alone.ts"}}), (Paths{"/src/alone.ts"}));

  EXPECT_EQ(acquire("bob", {{.path = "tests/foo.test.ts"}}), Paths{}) << "it went with its source";
}

TEST_F(Project, AHeldTestKeepsItsSourceFromBeingTakenAlone) {
  ASSERT_EQ(acquire("bob", {{.path = "tests/foo.test.ts"}}), (Paths{"/tests/foo.test.ts"}));

  const auto answer = workspace_->client()->acquire(asking("ann", {{.path = "src/foo.ts"}}));

  const auto& refused = std::get<Refused>(answer->decision);
  ASSERT_EQ(refused.blocked.size(), 1U);
  EXPECT_EQ(refused.blocked.front().path, "/tests/foo.test.ts");
  EXPECT_EQ(refused.blocked.front().holder.owner.agent_id, "bob");
  EXPECT_EQ(workspace_->client()->leases({.agent_id = "ann"})->size(), 0U) << "nothing in part";
}

TEST_F(Project, APrsLeasesGoToAnotherAgentTogether) {
  ASSERT_FALSE(acquire("ann", {{.path = "src/foo.ts"}}).empty());
  TransferRequest handoff = {.caller = asking("ann", {}).caller, .note = "your turn"};
  handoff.which.pr_id = "PR-005";
  handoff.to.owner.agent_id = "bob";

  ASSERT_TRUE(workspace_->client()->transfer(handoff));

  EXPECT_EQ(workspace_->client()->leases({.agent_id = "bob"})->size(), 3U);
  EXPECT_EQ(workspace_->client()->leases({.agent_id = "ann"})->size(), 0U);
}

// TTL and heartbeat, in real time: a keeper holds on to a lease that would have run out.
TEST_F(Project, AKeeperOutlivesTheTtl) {
  AcquireRequest request = asking("ann", {{.path = "src/alone.ts"}});
  request.ttl = 300ms;
  auto keeper = Keeper::start(workspace_->client(), request.caller);
  ASSERT_TRUE(keeper);
  const auto answer = (*keeper)->acquire(request);
  ASSERT_TRUE(std::holds_alternative<Granted>(answer->decision));
  const LeaseId id = std::get<Granted>(answer->decision).leases.front().id;

  // Renewed at least three times: more than a TTL has passed.
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (workspace_->client()->lease(id)->renewal_count < 3 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(10ms);
  }

  EXPECT_GE(workspace_->client()->lease(id)->renewal_count, 3);
  ASSERT_TRUE((*keeper)->release({id}));
  EXPECT_FALSE(*workspace_->client()->is_locked("/src/alone.ts"));
}

}  // namespace
}  // namespace leasehold
