#include "keeper/pace.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "keeper/story.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr LocalTime kAsked{100h};

Lease five_minutes() {
  Lease lease = make_lease(1, "/a");
  lease.ttl = 5min;
  lease.last_heartbeat_at = ManualClock::kStart;
  lease.expires_at = ManualClock::kStart + 5min;
  return lease;
}

TEST(Pace, RenewsAfterTwoFifthsWithTenPercentOfChance) {
  struct Row {
    Duration ttl;
    std::uint64_t chance;
    LocalDuration after;
  };
  for (const Row& row :
       {Row{5min, 500, 2min}, Row{5min, 0, 108s}, Row{5min, 1000, 132s}, Row{1h, 500, 24min},
        Row{10s, 0, 3600ms}, Row{10s, 1000, 4400ms}, Row{1ms, 500, 10ms}, Row{0ms, 0, 10ms}}) {
    FixedRandom random;
    random.value = row.chance;
    EXPECT_EQ(renew_after(row.ttl, random), row.after) << row.ttl.count();
  }
}

RC_GTEST_PROP(Pace, ChanceStaysWithinTenPercent, ()) {
  FixedRandom random;
  random.value = *rc::gen::arbitrary<std::uint64_t>();
  const Duration ttl(*rc::gen::inRange<std::int64_t>(100, 86'400'000));

  const LocalDuration after = renew_after(ttl, random);

  const LocalDuration exact = LocalDuration(ttl) * 2 / 5;
  RC_ASSERT(after >= exact * 9 / 10 - 1us);
  RC_ASSERT(after <= exact * 11 / 10 + 1us);
}

TEST(Pace, BacksOffFromSecondsToHalfAMinute) {
  FixedRandom random;
  random.value = 1000;
  std::vector<LocalDuration> pauses;
  for (std::size_t misses = 1; misses <= 6; ++misses) pauses.push_back(retry_after(5min, misses, random));
  EXPECT_EQ(pauses, (std::vector<LocalDuration>{5s, 10s, 20s, 30s, 30s, 30s}));

  EXPECT_EQ(retry_after(1h, 1, random), 5s);
  EXPECT_EQ(retry_after(1h, 1'000'000, random), 30s);
  EXPECT_EQ(retry_after(6s, 1, random), 100ms);
  EXPECT_EQ(retry_after(6s, 9, random), 600ms);
  random.value = 0;
  EXPECT_EQ(retry_after(5min, 1, random), 2500ms);
}

TEST(Pace, ALeaseIsGoodForItsTtlLessTheMargin) {
  EXPECT_EQ(drift_margin(5min), 6010ms);
  EXPECT_EQ(valid_until(five_minutes(), kAsked), kAsked + 5min - 6010ms);
}

TEST(Pace, ALeaseIsGoodNoLongerThanItsEarliestEnd) {
  Lease recalled = five_minutes();
  recalled.recalled_at = ManualClock::kStart + 60s;
  Lease idle = five_minutes();
  idle.idle_at = ManualClock::kStart + 30s;
  Lease both = recalled;
  both.idle_at = idle.idle_at;
  Lease half_gone = five_minutes();
  half_gone.last_heartbeat_at += 2min;
  Lease recalled_later = five_minutes();
  recalled_later.recalled_at = ManualClock::kStart + 1h;

  EXPECT_EQ(valid_until(recalled, kAsked), kAsked + 60s - 6010ms);
  EXPECT_EQ(valid_until(idle, kAsked), kAsked + 30s - 6010ms);
  EXPECT_EQ(valid_until(both, kAsked), kAsked + 30s - 6010ms);
  EXPECT_EQ(valid_until(half_gone, kAsked), kAsked + 3min - 6010ms);
  EXPECT_EQ(used_up(half_gone), 2min);
  EXPECT_EQ(valid_until(recalled_later, kAsked), kAsked + 5min - 6010ms);
}

// More than the TTL is never believed, whatever the store says about the end.
TEST(Pace, ALeaseIsGoodNoLongerThanItsTtl) {
  Lease lease = five_minutes();
  lease.expires_at = kForever;
  EXPECT_EQ(valid_until(lease, kAsked), kAsked + 5min - 6010ms);

  lease.ttl = Duration::max();
  EXPECT_GT(valid_until(lease, kAsked), kAsked);
  lease.ttl = Duration::min();
  EXPECT_LT(valid_until(lease, kAsked), kAsked);
}

}  // namespace
}  // namespace leasehold
