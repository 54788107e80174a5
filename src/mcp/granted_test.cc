// What becomes of grants when something goes wrong around them.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "mcp/test_agent.h"
#include "mcp/test_workspace.h"
#include "support/eventually.h"
#include "support/forwarding_store.h"
#include "support/small_world.h"

namespace leasehold::mcp {
namespace {

// A store that may answer no question, while it takes changes. Each of those is made a moment later than the
// one before.
class BlindStore final : public ForwardingStore {
 public:
  BlindStore(Store& target, ManualClock& clock) : ForwardingStore(target), clock_(clock) {}

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    clock_.advance(std::chrono::milliseconds(1));
    return ForwardingStore::transact(footprint, body);
  }
  Result<void> view(const Footprint& footprint, const Look& body) override {
    if (is_blind) return fail(Code::unavailable, "not now");
    return ForwardingStore::view(footprint, body);
  }

  std::atomic<bool> is_blind = false;

 private:
  ManualClock& clock_;
};

class McpGrants : public testing::Test {
 protected:
  json::object call(const std::string& tool, const std::string& arguments, int id = 1) {
    const auto message = read_message(
        R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
        tool + R"(","arguments":)" + arguments + "," + std::string(kModernMeta) + "}}");
    const auto answer = server_.answer(*message, {});
    EXPECT_TRUE(answer && answer->contains("result"));
    return answer->at("result").as_object();
  }

  std::size_t held() { return world_.manager.leases()->size(); }

  SmallWorld world_;
  BlindStore store_{*world_.store, world_.clock};
  LeaseManager manager_{Environment{world_.probe, world_.random}, store_, kWorkspace, Policy{}};
  TestWorkspace workspace_{manager_, process(1)};
  Desk desk_{{.open = [this](bool, bool) { return &workspace_; },
              .place = "/",
              .owner = {"ann", "s1"},
              .user = "nobody",
              .session = "mcp-1"}};
  Server server_{desk_, {.version = "1.2.3"}};
};

TEST_F(McpGrants, AreToldAndGivenBackEvenIfTheStoreCannotBeAskedOnceMore) {
  store_.is_blind = true;
  const json::object granted = call("lease_acquire", R"({"paths":["a"]})");
  const json::object released = call("lease_release", R"({"all":true})");
  call("lease_acquire", R"({"paths":["b"]})");
  store_.is_blind = false;

  EXPECT_EQ(refusal(granted), "");
  EXPECT_EQ(document(granted).at("decision"), "granted");
  EXPECT_EQ(refusal(released), "");
  EXPECT_EQ(held(), 1U);
  desk_.end();
  EXPECT_EQ(held(), 0U);
}

// Who releases cannot see the one who waits, as on another machine: the grant is short until it is collected.
TEST_F(McpGrants, OfAWaitGoBackWhenTheirAnswerAndACancellationCross) {
  ASSERT_TRUE(manager_.acquire(asking(bob(), {"/a"})));
  json::object granted;
  std::thread waits([&] { granted = call("lease_acquire", R"({"paths":["a"],"wait_seconds":600})", 7); });
  EXPECT_TRUE(eventually([&] { return world_.manager.board()->rows.size() == 2; }));
  ASSERT_TRUE(manager_.release({.caller = caller(bob()), .which = {.all = true}}));
  waits.join();
  EXPECT_EQ(document(granted).at("decision"), "granted");

  server_.give_back(7);

  EXPECT_EQ(held(), 0U);
}

}  // namespace
}  // namespace leasehold::mcp
