// What becomes of a store's times when the machine starts again.
#include <fmt/format.h>

#include "leasehold/until_released.h"
#include "support/raw_sqlite.h"
#include "support/sqlite_place.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// A clock that a test sets to any moment: after a boot, time starts over.
class SetClock final : public StoreClock {
 public:
  SetClock(Time now, WallTime wall) : now_(now), wall_(wall) {}

  Time now() const override { return now_; }
  WallTime wall() const override { return wall_; }

  void advance(std::chrono::microseconds by) {
    now_ += by;
    wall_ += by;
  }

 private:
  Time now_;
  WallTime wall_;
};

class BootTest : public testing::Test {
 public:
  std::unique_ptr<Store> open(const std::string& boot, const StoreClock& clock, bool durable = false) const {
    SqliteOptions options = place.options();
    options.boot_id = boot;
    options.durable = durable;
    auto store = open_sqlite_store(options, clock);
    if (store) return std::move(*store);
    ADD_FAILURE() << testing::PrintToString(store.error());
    return nullptr;
  }

  // A store in use, ten days after the machine started.
  void live_through_the_first_boot() {
    const auto store = open("first", before);
    commit(*store, [](Transaction& transaction) {
      Lease held = make_lease(1, "/held");
      held.acquired_at = held.created_at = held.updated_at = held.last_heartbeat_at = Time{240h};
      held.expires_at = Time{240h + 5min};
      transaction.put(held);
      Lease forever = make_lease(2, "/forever");
      forever.expires_at = kForever;
      forever.idle_at = Time{240h + 1min};
      transaction.put(forever);
      Lease over = make_lease(3, "/over");
      over.status = Status::released;
      over.ended_by = EndCause::released;
      over.updated_at = Time{239h};
      transaction.put(over);
      Ticket waiting = make_ticket(1, {"/held"});
      waiting.arrival = waiting.order = Time{240h};
      waiting.wait_until = waiting.proven_until = Time{240h + 1min};
      transaction.put(waiting);
      Notice notice = make_notice(1, held);
      notice.at = Time{240h};
      notice.drop_at = Time{241h};
      transaction.put(notice);
      Answer answer = make_answer("key", {held});
      answer.drop_at = Time{241h};
      transaction.put(answer);
      Event event = make_event(held);
      event.at = Time{240h};
      event.wall = transaction.wall();
      transaction.append(event);
    });
    commit(*store, [&](Transaction& transaction) { last_token = transaction.next_token(); });
  }

  // Nothing of the first boot is in the way at `now`.
  static void expect_all_over(View& view) {
    for (const Lease& lease : view.leases({})) {
      EXPECT_LE(lease.expires_at, Time{}) << lease.path;
      EXPECT_LE(lease.acquired_at, Time{}) << lease.path;
      EXPECT_LE(lease.last_heartbeat_at, Time{}) << lease.path;
      EXPECT_LE(lease.updated_at, Time{}) << lease.path;
    }
    EXPECT_EQ(view.leases({}).size(), 2U) << "until somebody records it";
    const Due due = view.due(view.now(), 10);
    EXPECT_EQ(due.leases.size(), 2U);
    ASSERT_EQ(due.tickets.size(), 1U);
    EXPECT_LE(due.tickets[0].wait_until, Time{});
    EXPECT_LE(due.tickets[0].proven_until, Time{});
    EXPECT_LE(due.tickets[0].order, Time{});
    EXPECT_LE(view.lease(lease_id(2))->idle_at.value(), Time{});
  }

  // Granted an hour before the first boot ends, for two.
  static Lease granted(int number, const std::string& path, std::optional<Process> process = {}) {
    Lease lease = make_lease(number, path);
    lease.created_at = lease.acquired_at = lease.updated_at = lease.last_heartbeat_at = Time{239h};
    lease.ttl = 2h;
    lease.expires_at = Time{241h};
    lease.holder.process = std::move(process);
    return lease;
  }

  void put(Store& store, const std::vector<Lease>& leases) {
    commit(store, [&](Transaction& transaction) {
      for (const Lease& lease : leases) transaction.put(lease);
    });
  }

  // What it was in the boot that began three seconds ago.
  Lease after_reboot(const LeaseId& id) {
    Lease lease;
    look(*open("second", after), [&](View& view) { lease = view.lease(id).value(); });
    return lease;
  }

  const WallTime wall = ManualClock::kWallStart;
  SqlitePlace place;
  SetClock after{Time{3s}, wall + 10min};
  SetClock before{Time{240h}, wall};
  Token last_token;
};

TEST_F(BootTest, NothingOfAnEarlierBootIsInTheWay) {
  live_through_the_first_boot();
  const SetClock clock(Time{3s}, wall + 1h);

  const auto store = open("second", clock);

  look(*store, expect_all_over);
}

TEST_F(BootTest, AtTheVeryFirstMomentToo) {
  live_through_the_first_boot();
  const SetClock clock(Time{}, wall + 1min);

  const auto store = open("second", clock);

  look(*store, expect_all_over);
}

TEST_F(BootTest, AWallClockThatWasSetBackChangesNothing) {
  live_through_the_first_boot();
  const SetClock clock(Time{3s}, wall - 1000h);

  const auto store = open("second", clock);

  look(*store, expect_all_over);
  commit(*store, [&](Transaction& transaction) { EXPECT_GT(transaction.next_token(), last_token); });
}

// Without a battery the clock starts at the epoch.
TEST_F(BootTest, AWallClockAtTheEpochChangesNothing) {
  live_through_the_first_boot();
  const SetClock clock(Time{3s}, WallTime{3s});

  const auto store = open("second", clock);

  look(*store, expect_all_over);
  commit(*store, [&](Transaction& transaction) { EXPECT_GT(transaction.next_token(), last_token); });
}

TEST_F(BootTest, TimesAreWhatPeopleRememberThemToBe) {
  live_through_the_first_boot();
  const SetClock clock(Time{3s}, wall + 1h);

  const auto store = open("second", clock);

  look(*store, [&](View& view) {
    EXPECT_EQ(view.lease(lease_id(1))->acquired_at, Time{3s - 1h});
    EXPECT_EQ(view.lease(lease_id(1))->expires_at, Time{3s - 55min});
    EXPECT_EQ(view.lease(lease_id(3))->updated_at, Time{3s - 2h});
    const std::vector<Event> events = view.history({});
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].wall, wall);
    EXPECT_EQ(events[0].at, Time{3s - 1h});
  });
}

TEST_F(BootTest, WhatIsKeptForAWhileIsKeptForThatLong) {
  live_through_the_first_boot();
  SetClock clock(Time{3s}, wall + 30min);

  const auto store = open("second", clock);

  look(*store, [&](View& view) {
    const std::vector<Notice> notices = view.notices(ann());
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].drop_at, Time{3s + 30min});
    EXPECT_EQ(notices[0].at, Time{3s - 30min});
    EXPECT_EQ(view.answer(ann(), "key")->drop_at, Time{3s + 30min});
  });
  clock.advance(31min);
  commit(*store, [](Transaction& transaction) {
    EXPECT_GT(transaction.forget(Time{-24h}, WallTime{}, 100), 0U);
    EXPECT_TRUE(transaction.notices(ann()).empty());
  });
}

TEST_F(BootTest, NobodyIsDeniedForWhatWasBefore) {
  {
    const SetClock clock(Time{1h}, wall);
    const auto store = open("first", clock);
    commit(*store, [](Transaction& transaction) {
      transaction.put(make_contention(ann(), "/a", make_lease(1, "/a", bob())));
    });
  }
  const SetClock clock(Time{3s}, wall + 1h);

  const auto store = open("second", clock);

  look(*store, [](View& view) { EXPECT_TRUE(view.contentions({}).empty()); });
}

TEST_F(BootTest, TokensAndSequencesGoOn) {
  live_through_the_first_boot();
  const SetClock clock(Time{3s}, wall + 1h);

  const auto store = open("second", clock);

  commit(*store, [&](Transaction& transaction) {
    EXPECT_GT(transaction.next_token(), last_token);
    Event event = make_event(make_lease(9, "/new"));
    event.at = transaction.now();
    event.wall = transaction.wall();
    transaction.append(event);
    const std::vector<Event> events = transaction.history({});
    ASSERT_EQ(events.size(), 2U);
    EXPECT_GT(events[1].sequence, events[0].sequence);
    EXPECT_EQ(events[1].at, Time{3s});
  });
}

TEST_F(BootTest, LeasesOfTwoBootsAgoAreStillOver) {
  live_through_the_first_boot();
  const SetClock second(Time{3s}, wall + 1h);
  (void)open("second", second);
  const SetClock third(Time{1s}, wall + 2h);

  const auto store = open("third", third);

  look(*store, [&](View& view) {
    expect_all_over(view);
    EXPECT_EQ(view.lease(lease_id(1))->acquired_at, Time{1s - 2h});
    EXPECT_EQ(view.history({}).at(0).at, Time{1s - 2h});
  });
}

TEST_F(BootTest, TheSameBootLeavesEverythingAlone) {
  live_through_the_first_boot();
  const std::string all = "SELECT * FROM leases; SELECT * FROM tickets; SELECT * FROM store";
  const std::string as_it_was = run_sql(place.database(), all);

  (void)open("first", before);

  EXPECT_EQ(run_sql(place.database(), all), as_it_was);
}

// What a daemon answered is on the disk, and who holds it elsewhere goes on.
TEST_F(BootTest, WhoWasGrantedByADaemonAndNamedNoProcessHasTheWholeTermAgain) {
  put(*open("first", before, true), {granted(1, "/a")});

  const Lease lease = after_reboot(lease_id(1));

  EXPECT_EQ(lease.status, Status::active);
  EXPECT_EQ(lease.expires_at, Time{3s + 2h});
  EXPECT_EQ(lease.acquired_at, Time{3s - 10min - 1h});
  EXPECT_EQ(lease.renewal_count, 0);
  EXPECT_EQ(run_sql(place.database(), "SELECT deadline_ns - expires_ns, expires_at FROM leases"),
            fmt::format("0|{}\n", (wall + 10min + 2h).time_since_epoch() / 1s));
}

TEST_F(BootTest, HistorySaysThatItLivesOn) {
  {
    const auto store = open("first", before, true);
    put(*store, {granted(1, "/a"), granted(2, "/b", Process{.machine_id = "this machine", .pid = 7})});
    commit(*store, [&](Transaction& transaction) { transaction.append(make_event(granted(1, "/a"))); });
  }

  const auto store = open("second", after);

  commit(*store, [&](Transaction& transaction) {
    transaction.append(make_event(make_lease(9, "/new")));
    const std::vector<Event> events = transaction.history({});
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[1].type, EventType::renewed);
    EXPECT_EQ(events[1].lease_id, lease_id(1));
    EXPECT_EQ(events[1].owner, ann());
    EXPECT_EQ(events[1].at, Time{3s});
    EXPECT_EQ(events[1].wall, wall + 10min);
    EXPECT_EQ(events[1].reason, "the machine of the store was restarted");
    EXPECT_EQ(events[1].sequence, events[0].sequence + 1);
    EXPECT_EQ(events[2].sequence, events[0].sequence + 2);
  });
}

TEST_F(BootTest, AProcessOfAnotherMachineHasItsWholeTermAgainOneOfThisMachineIsGone) {
  put(*open("first", before, true), {granted(1, "/a", Process{.machine_id = "x", .boot_id = "y", .pid = 7}),
                                     granted(2, "/b", Process{.machine_id = "this machine", .pid = 7}),
                                     // In a container with an id of its own.
                                     granted(3, "/c", Process{.boot_id = "first", .pid = 7})});

  EXPECT_EQ(after_reboot(lease_id(1)).expires_at, Time{3s + 2h});
  EXPECT_LE(after_reboot(lease_id(2)).expires_at, Time{});
  EXPECT_LE(after_reboot(lease_id(3)).expires_at, Time{});
}

TEST_F(BootTest, WhatIsUntilReleasedStaysSo) {
  Lease lock = granted(1, "/logo.psd");
  lock.ttl = kUntilReleased;
  lock.expires_at = kForever;
  put(*open("first", before, true), {lock});

  EXPECT_EQ(after_reboot(lock.id).expires_at, kForever);
}

// It may have been lost, so that nobody could rely on it; and its holder lived on this machine.
TEST_F(BootTest, WhatNoDaemonGrantedEndsWithTheBootUnlessOneRenewedIt) {
  const Lease embedded = granted(1, "/a");
  const Lease renewed = granted(2, "/b");
  put(*open("first", before), {embedded, renewed});
  {
    const auto daemon = open("first", before, true);
    commit(*daemon, [&](Transaction& transaction) {
      Lease lease = renewed;
      lease.expires_at = Time{242h};
      transaction.extend(lease);
    });
  }
  // Who renews it for others takes nothing away.
  put(*open("first", before), {renewed});

  EXPECT_LE(after_reboot(embedded.id).expires_at, Time{});
  EXPECT_EQ(after_reboot(renewed.id).expires_at, Time{3s + 2h});
}

TEST_F(BootTest, WhatWasIdleOrAskedBackHasAsLongAsItHadThen) {
  Lease idle = granted(1, "/a");
  idle.updated_at = Time{240h};
  idle.idle_at = Time{240h + 30s};
  Lease recalled = granted(2, "/b");
  recalled.updated_at = Time{240h};
  recalled.recalled_at = Time{240h + 1min};
  put(*open("first", before, true), {idle, recalled});

  EXPECT_EQ(after_reboot(idle.id).idle_at, Time{3s + 30s});
  EXPECT_EQ(after_reboot(recalled.id).recalled_at, Time{3s + 1min});
  look(*open("second", after), [](View& view) {
    EXPECT_TRUE(view.due(Time{30s}, 10).leases.empty());
    EXPECT_EQ(view.due(Time{33s}, 10).leases.size(), 1U);
  });
}

// Nobody recorded that it ended.
TEST_F(BootTest, WhatEndedBeforeTheRebootIsNotRevived) {
  Lease over = granted(1, "/a");
  over.expires_at = Time{239h + 30min};
  {
    const auto store = open("first", before, true);
    put(*store, {over});
    commit(*store, [&](Transaction& transaction) {
      Event later = make_event(make_lease(2, "/b"));
      later.at = Time{240h};
      transaction.append(later);
    });
  }

  EXPECT_LE(after_reboot(over.id).expires_at, Time{});
}

TEST_F(BootTest, WhoWaitsAtADaemonWaitsNoLonger) {
  {
    const auto store = open("first", before, true);
    put(*store, {granted(1, "/a")});
    commit(*store, [](Transaction& transaction) {
      Ticket waiting = make_ticket(1, {"/a"}, bob());
      waiting.wait_until = waiting.proven_until = Time{241h};
      transaction.put(waiting);
    });
  }

  look(*open("second", after), [](View& view) {
    ASSERT_EQ(view.due(view.now(), 10).tickets.size(), 1U);
    EXPECT_LE(view.due(view.now(), 10).tickets[0].wait_until, Time{});
  });
}

TEST_F(BootTest, EveryRebootGivesTheWholeTermAgainAndItsEndIsAnEnd) {
  put(*open("first", before, true), {granted(1, "/a")});
  (void)after_reboot(lease_id(1));
  const SetClock third(Time{1s}, wall + 1h);
  look(*open("third", third),
       [](View& view) { EXPECT_EQ(view.lease(lease_id(1))->expires_at, Time{1s + 2h}); });

  // The other leases of the third boot are what says how long it lasted.
  const SetClock third_later(Time{3h}, wall + 4h);
  commit(*open("third", third_later), [](Transaction& transaction) {
    Event event = make_event(make_lease(2, "/b"));
    event.at = transaction.now();
    transaction.append(event);
  });
  const SetClock fourth(Time{1s}, wall + 5h);

  look(*open("fourth", fourth), [](View& view) { EXPECT_LE(view.lease(lease_id(1))->expires_at, Time{}); });
}

TEST_F(BootTest, LeasesOfThisBootAreLive) {
  live_through_the_first_boot();
  const SetClock clock(Time{3s}, wall + 1h);
  const auto store = open("second", clock);
  commit(*store, [](Transaction& transaction) {
    Lease lease = make_lease(9, "/new");
    lease.expires_at = Time{3s + 5min};
    transaction.put(lease);
  });

  const auto again = open("second", clock);

  look(*again, [](View& view) {
    EXPECT_EQ(view.lease(lease_id(9))->expires_at, Time{3s + 5min});
    EXPECT_EQ(view.due(view.now(), 10).leases.size(), 2U);
  });
}

}  // namespace
}  // namespace leasehold
