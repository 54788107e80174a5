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

  Result<std::unique_ptr<Bell>> listen(const GroupId& ticket) override {
    if (const auto happens = std::exchange(meanwhile, {})) happens(ticket.text);
    return ForwardingStore::listen(ticket);
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
