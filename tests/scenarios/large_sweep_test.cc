// What a script cannot say in a few lines.
#include <gtest/gtest.h>

#include "scenarios/world.h"

namespace leasehold::scenario {
namespace {

using namespace std::chrono_literals;

// Waiters that are seen to live, and have not asked for a while, are due to be looked at and then stay.
// With as many of them as one batch takes, the sweeper must not look at the same ones for ever.
TEST(Sweep, EndsHoweverManyWaitersItFindsAlive) {
  World world(available_stores().front());
  ASSERT_TRUE(
      world.manager().acquire({.caller = world.caller("ann"), .paths = {{.path = "/", .subtree = true}}}));
  for (int i = 0; i < 1'000; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(world.manager().acquire(
        {.caller = world.caller("waiter-" + name), .paths = {{.path = "/src/" + name}}, .wait = 10min}));
  }
  world.clock.advance(1min);

  const Result<Swept> swept = world.manager().sweep();

  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->dropped, 0u);
  EXPECT_EQ(swept->ended, 0u);
}

}  // namespace
}  // namespace leasehold::scenario
