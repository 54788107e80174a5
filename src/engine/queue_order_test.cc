#include "engine/queue_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/manual_clock.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow = ManualClock::kStart;

Rank rank(int priority, Time arrival, std::uint64_t sequence, bool upgrade = false) {
  Rank rank = rank_at_arrival(priority, upgrade, arrival, Policy{});
  rank.sequence = {sequence};
  return rank;
}

TEST(QueueOrder, TheFirstToArriveGoesFirst) {
  EXPECT_TRUE(before(rank(0, kNow, 2), rank(0, kNow + 1ms, 1)));
  EXPECT_TRUE(before(rank(0, kNow, 1), rank(0, kNow, 2)));
}

// One step passes those who arrived less than ten seconds before, and no others: nobody starves.
TEST(QueueOrder, AStepOfPriorityIsWorthTenSecondsOfWaiting) {
  EXPECT_TRUE(before(rank(1, kNow + 9999ms, 2), rank(0, kNow, 1)));
  EXPECT_TRUE(before(rank(0, kNow, 1), rank(1, kNow + 10s, 2)));
  EXPECT_TRUE(before(rank(0, kNow, 1), rank(1, kNow + 10001ms, 2)));
  EXPECT_TRUE(before(rank(0, kNow, 1), rank(10, kNow + 100s, 2)));
  EXPECT_TRUE(before(rank(0, kNow + 9s, 2), rank(-1, kNow, 1)));
}

TEST(QueueOrder, AnUpgradeGoesBeforeAllOrdinaryWaiters) {
  EXPECT_TRUE(before(rank(-10, kNow + 1h, 9, true), rank(10, kNow, 1)));
  EXPECT_TRUE(before(rank(0, kNow, 1, true), rank(0, kNow, 2, true)));
}

// It has no place of its own yet: whoever waits already was there before.
TEST(QueueOrder, WhoArrivesNowIsBehindAllItsEquals) {
  const Rank arriving = rank_at_arrival(0, false, kNow, Policy{});
  EXPECT_TRUE(before(rank(0, kNow, 1ULL << 53), arriving));
  EXPECT_FALSE(before(arriving, rank(0, kNow, 1ULL << 53)));
}

rc::Gen<Rank> any_rank() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::arbitrary<bool>(), rc::gen::inRange(0, 3), rc::gen::inRange(0, 3)),
      [](const std::tuple<bool, int, int>& parts) {
        const auto& [upgrade, order, sequence] = parts;
        return Rank{upgrade, kNow + std::chrono::seconds(order), {static_cast<std::uint64_t>(sequence)}};
      });
}

RC_GTEST_PROP(QueueOrder, IsAStrictWeakOrder, ()) {
  const Rank a = *any_rank().as("a");
  const Rank b = *any_rank().as("b");
  const Rank c = *any_rank().as("c");
  const auto equal = [](const Rank& x, const Rank& y) { return !before(x, y) && !before(y, x); };

  RC_ASSERT(!before(a, a));
  RC_ASSERT(!(before(a, b) && before(b, a)));
  if (before(a, b) && before(b, c)) RC_ASSERT(before(a, c));
  if (equal(a, b) && equal(b, c)) RC_ASSERT(equal(a, c));
}

RC_GTEST_PROP(QueueOrder, NoTwoTicketsAreEqual, ()) {
  Rank a = *any_rank().as("a");
  Rank b = *any_rank().as("b");
  a.id = "a";
  b.id = "b";

  RC_ASSERT(before(a, b) != before(b, a));
}

}  // namespace
}  // namespace leasehold
