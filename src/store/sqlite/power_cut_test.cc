// The power goes, at any moment: what is left opens, is whole, and is in nobody's way.
#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "support/power_cut_vfs.h"
#include "support/raw_sqlite.h"
#include "support/sqlite_place.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using Left = PowerCutVfs::Left;

constexpr const char* kVfs = "power cut";

// Each boot has a clock of its own; only the wall goes on.
class BootClock final : public StoreClock {
 public:
  explicit BootClock(WallTime wall) : wall_(wall) {}

  Time now() const override { return now_; }
  WallTime wall() const override { return wall_; }

  void advance(std::chrono::microseconds by) {
    now_ += by;
    wall_ += by;
  }

 private:
  Time now_{1s};
  WallTime wall_;
};

struct World {
  Result<std::unique_ptr<Store>> open(const std::string& boot, const StoreClock& clock) const {
    SqliteOptions options = place.options();
    options.vfs = kVfs;
    options.boot_id = boot;
    options.log_pages_max = 60;
    return open_sqlite_store(options, clock);
  }

  SqlitePlace place;
  PowerCutVfs disk{kVfs};
};

struct HandedOut {
  Token last;         // The greatest that a commit was acknowledged for.
  int committed = 0;  // Transactions acknowledged.
};

// Two leases and two lines of history in each transaction. Ends when something fails.
HandedOut work(const World& world, int transactions, BootClock& clock) {
  HandedOut result;
  const auto store = world.open("first", clock);
  if (!store) return result;
  for (int i = 0; i < transactions; ++i) {
    Token token;
    const auto done = try_commit(**store, [&](Transaction& transaction) {
      token = transaction.next_token();
      for (const int number : {2 * i, 2 * i + 1}) {
        Lease lease = make_lease(number, fmt::format("/file/{}", number));
        lease.token = token;
        lease.expires_at = transaction.now() + 1h;
        transaction.put(lease);
        transaction.append(make_event(lease));
      }
    });
    if (!done) return result;
    result = {token, i + 1};
    clock.advance(100us);
  }
  return result;
}

void expect_sound(const World& world, const HandedOut& before, WallTime wall) {
  // Shared memory is whatever it is after a boot.
  std::ofstream(world.place.database() + "-shm") << std::string(40'000, 'g');
  BootClock clock(wall);

  const auto opened = world.open("second", clock);

  ASSERT_TRUE(opened) << testing::PrintToString(opened.error());
  Store& store = **opened;
  EXPECT_EQ(run_sql(world.place.database(), "PRAGMA integrity_check"), "ok\n");
  look(store, [&](View& view) {
    const std::vector<Lease> leases = view.leases({});
    EXPECT_EQ(view.due(view.now(), 10'000).leases.size(), leases.size())
        << "a lease of the old boot is in the way";
    EXPECT_EQ(view.lease_count(ann()), leases.size());
    EXPECT_EQ(view.history({}).size(), leases.size());
    // What is left is what was there at one moment, nothing in between.
    EXPECT_EQ(leases.size() % 2, 0U);
    for (std::size_t i = 0; i < leases.size(); ++i)
      EXPECT_TRUE(view.lease(lease_id(static_cast<int>(i)))) << i;
  });
  commit(store, [&](Transaction& transaction) {
    EXPECT_GT(transaction.next_token(), before.last);
    transaction.put(make_lease(100'000, "/after"));
  });
}

// What the power cut finds: nothing yet, a log, a log just moved into the file, and all that follows.
TEST(PowerCut, AfterAnyTransactionLeavesASoundStore) {
  for (int transactions = 0; transactions <= 30; ++transactions) {
    for (const Left left : {Left::nothing, Left::some_sectors}) {
      SCOPED_TRACE(
          fmt::format("{} transactions, {}", transactions, left == Left::nothing ? "nothing" : "some"));
      World world;
      BootClock clock(ManualClock::kWallStart);
      const HandedOut before = work(world, transactions, clock);
      ASSERT_EQ(before.committed, transactions);

      world.disk.cut(left, static_cast<std::uint32_t>(transactions));

      expect_sound(world, before, clock.wall() + 1s);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// In the middle of writing, of moving the log, of making the file.
TEST(PowerCut, InTheMiddleOfAnythingLeavesASoundStore) {
  int all = 0;
  {
    World world;
    BootClock clock(ManualClock::kWallStart);
    (void)work(world, 20, clock);
    all = world.disk.steps();
  }
  ASSERT_GT(all, 100);

  int cuts = 0;
  for (int steps = 0; steps < all; steps += 1 + steps / 40) {
    const Left left = ++cuts % 2 == 0 ? Left::nothing : Left::some_sectors;
    SCOPED_TRACE(
        fmt::format("after {} of {} steps, {}", steps, all, left == Left::nothing ? "nothing" : "some"));
    World world;
    world.disk.fail_after(steps);
    BootClock clock(ManualClock::kWallStart);
    const HandedOut before = work(world, 20, clock);

    world.disk.cut(left, static_cast<std::uint32_t>(steps));

    expect_sound(world, before, clock.wall() + 1s);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(PowerCut, WhatWasMovedIntoTheFileIsStillThere) {
  World world;
  BootClock clock(ManualClock::kWallStart);
  const HandedOut before = work(world, 30, clock);

  world.disk.cut(Left::nothing, 0);

  expect_sound(world, before, clock.wall() + 1s);
  EXPECT_NE(run_sql(world.place.database(), "SELECT count(*) FROM leases"), "1\n") << "only the new one";
}

// The disk itself fails: no grant is acknowledged, and no later call trusts what is in memory.
TEST(PowerCut, AFailingDiskIsNotTrusted) {
  World world;
  BootClock clock(ManualClock::kWallStart);
  const auto store = world.open("first", clock).value();
  commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
  world.disk.fail_after(0);

  const auto done =
      try_commit(*store, [](Transaction& transaction) { transaction.put(make_lease(2, "/b")); });

  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().code == Code::outcome_unknown || done.error().code == Code::unavailable)
      << testing::PrintToString(done.error());
  EXPECT_NE(done.error().message.find(world.place.database()), std::string::npos);
  world.disk.fail_after(1'000'000);
  look(*store, [](View& view) { EXPECT_EQ(view.leases({}).size(), 1U); });
  commit(*store, [](Transaction& transaction) { transaction.put(make_lease(3, "/c")); });
}

}  // namespace
}  // namespace leasehold
