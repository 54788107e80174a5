#include "manager/gate_waiter.h"

#include <gtest/gtest.h>

#include "support/forwarding_store.h"
#include "support/small_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Lets something happen before somebody listens.
struct LateListener : ForwardingStore {
  using ForwardingStore::ForwardingStore;

  Result<std::unique_ptr<Bell>> listen(const std::string& workspace, const GroupId& ticket) override {
    if (const auto happens = std::exchange(meanwhile, {})) happens(ticket.text);
    return ForwardingStore::listen(workspace, ticket);
  }

  std::function<void(const std::string& id)> meanwhile;
};

TEST(GateWaiter, LooksAgainWhenAnInstructionMayHaveComeBeforeItListened) {
  SmallWorld world;
  LateListener store(*world.store);
  ASSERT_TRUE(world.manager.acquire(asking(ann(), {"/a"})));
  GateWaiter waiter(world.manager, store, {.wanted = asking(bob(), {"/a"})}, 10min);
  waiter.look();
  ASSERT_FALSE(waiter.answer());
  world.clock.advance(Policy{}.gate_retry);
  store.meanwhile = [&](const std::string& id) {
    EXPECT_TRUE(world.manager.instruct(
        {.id = id, .instruction = Instruction::abandon, .actor = "olga", .reason = "not yours"}));
  };

  waiter.look();
  ASSERT_FALSE(waiter.answer());
  EXPECT_EQ(waiter.pause().at_most, 0ms);
  waiter.look();

  EXPECT_TRUE(waiter.answer());
}

// Each denial takes what its owner has to be told out of the store.
TEST(GateWaiter, TellsInTheEndWhatNobodyWasShown) {
  SmallWorld world;
  ASSERT_TRUE(world.manager.acquire(asking(ann(), {"/a"})));
  const auto denied_after_recall = [&](const char* path) {
    EXPECT_TRUE(world.manager.acquire(asking(bob(), {path})));
    EXPECT_TRUE(world.manager.force_release(
        {.actor = "olga", .which = {.paths = {path}}, .reason = "for a release", .recall = 1min}));
    GateWaiter waiter(world.manager, *world.store, {.wanted = asking(bob(), {"/a"})}, 10min);
    waiter.look();
    EXPECT_FALSE(waiter.answer());
    return waiter;
  };

  GateWaiter unseen = denied_after_recall("/b");
  unseen.give_up();
  EXPECT_EQ(unseen.answer()->value().notices.size(), 1U);

  GateWaiter shown = denied_after_recall("/c");
  EXPECT_EQ(shown.take_denial().notices.size(), 1U);
  shown.give_up();
  EXPECT_TRUE(shown.answer()->value().notices.empty()) << "that was told";

  GateWaiter undone = denied_after_recall("/d");
  undone.undo();
  undone.give_up();
  EXPECT_TRUE(undone.answer()->value().notices.empty()) << "that is the store's again";
}

TEST(GateWaiter, SleepsWhenNothingHappensWhileItIsHalted) {
  SmallWorld world;
  ASSERT_TRUE(world.manager.acquire(asking(ann(), {"/a"})));
  GateWaiter waiter(world.manager, *world.store, {.wanted = asking(bob(), {"/a"})}, 10min);
  waiter.look();
  world.clock.advance(Policy{}.gate_retry);
  waiter.look();
  waiter.look();

  ASSERT_FALSE(waiter.answer());
  EXPECT_GT(waiter.pause().at_most, 1s);
}

}  // namespace
}  // namespace leasehold
