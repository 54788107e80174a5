// What a store may forget, and what not.
#include "contract/store_contract.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow = ManualClock::kStart;
constexpr WallTime kWall = ManualClock::kWallStart;
constexpr WallTime kNoHistory = WallTime::min();
constexpr Time kNoRecord = Time::min();

// Forgets all there is to forget, in as many transactions as that takes. Returns how many records.
std::size_t forget_all(StoreContract& test, Time ended_before, WallTime history_before) {
  std::size_t total = 0;
  for (int round = 0; round < 20; ++round) {
    std::size_t forgotten = 0;
    test.commit(
        [&](Transaction& transaction) { forgotten = transaction.forget(ended_before, history_before, 100); });
    if (forgotten == 0) return total;
    total += forgotten;
  }
  ADD_FAILURE() << "still something to forget";
  return total;
}

TEST_P(StoreContract, LeasesThatEndedBeforeThenAreForgotten) {
  commit([&](Transaction& transaction) {
    transaction.put(ended(make_lease(1, "/a"), Status::released, kNow - 2s));
    transaction.put(ended(make_lease(2, "/a"), Status::expired, kNow - 2s));
    transaction.put(ended(make_lease(3, "/a"), Status::failed, kNow - 2s));
    transaction.put(ended(make_lease(4, "/a"), Status::released, kNow - 1s));  // Not before then.
    transaction.put(ended(make_lease(5, "/a"), Status::released, kNow));
  });

  EXPECT_EQ(forget_all(*this, kNow - 1s, kNoHistory), 3u);

  look([](View& view) {
    for (const int number : {1, 2, 3}) EXPECT_FALSE(view.lease(lease_id(number))) << number;
    for (const int number : {4, 5}) EXPECT_TRUE(view.lease(lease_id(number))) << number;
  });
}

TEST_P(StoreContract, LeasesThatAreActiveOrPendingAreNeverForgotten) {
  commit([&](Transaction& transaction) {
    Lease lease = make_lease(1, "/a");
    lease.updated_at = Time{};
    lease.expires_at = Time{};  // Ended or not is for the engine to say.
    transaction.put(lease);
    lease = make_lease(2, "/b");
    lease.updated_at = Time{};
    lease.status = Status::pending;
    transaction.put(lease);
  });

  EXPECT_EQ(forget_all(*this, kForever, kNoHistory), 0u);

  look([](View& view) {
    EXPECT_TRUE(view.lease(lease_id(1)));
    EXPECT_TRUE(view.lease(lease_id(2)));
    EXPECT_EQ(view.lease_count(ann()), 1u);
  });
}

TEST_P(StoreContract, TicketsThatEndedBeforeThenAreForgotten) {
  commit([&](Transaction& transaction) {
    transaction.put(ended(make_ticket(1, {"/a"}), Status::failed, kNow - 2s));
    transaction.put(ended(make_ticket(2, {"/a"}), Status::active, kNow - 2s));
    transaction.put(ended(make_ticket(3, {"/a"}), Status::failed, kNow - 1s));
    transaction.put(make_ticket(4, {"/a"}));
  });

  EXPECT_EQ(forget_all(*this, kNow - 1s, kNoHistory), 2u);

  look([](View& view) {
    EXPECT_FALSE(view.ticket(group_id(1)));
    EXPECT_FALSE(view.ticket(group_id(2)));
    EXPECT_TRUE(view.ticket(group_id(3)));
    EXPECT_TRUE(view.ticket(group_id(4)));
  });
}

TEST_P(StoreContract, NoticesPastTheirTimeAreForgotten) {
  commit([&](Transaction& transaction) {
    Notice notice = make_notice(1, make_lease(1, "/a"));
    notice.drop_at = kNow + 1s;
    transaction.put(notice);
    notice = make_notice(2, make_lease(1, "/a"));
    notice.drop_at = kNow + 3s;
    transaction.put(notice);
  });

  EXPECT_EQ(forget_all(*this, kNoRecord, kNoHistory), 0u);
  clock.advance(2s);
  EXPECT_EQ(forget_all(*this, kNoRecord, kNoHistory), 1u);

  look([](View& view) { EXPECT_EQ(ids(view.notices(ann())), std::vector{notice_id(2)}); });
}

TEST_P(StoreContract, AnAnswerIsKeptUntilItsTimeIsPast) {
  Answer answer = make_answer("key", {});
  answer.drop_at = kNow + 1s;
  commit([&](Transaction& transaction) { transaction.put(answer); });

  EXPECT_EQ(forget_all(*this, kForever, kNoHistory), 0u);
  look([&](View& view) { EXPECT_EQ(view.answer(ann(), "key"), answer); });

  clock.advance(2s);
  EXPECT_EQ(forget_all(*this, kForever, kNoHistory), 1u);
  look([](View& view) { EXPECT_FALSE(view.answer(ann(), "key")); });
}

TEST_P(StoreContract, AnAnswerIsKeptWhileAnyOfItsLeasesIs) {
  const Lease gone = ended(make_lease(1, "/a"), Status::released, kNow);
  const Lease kept = ended(make_lease(2, "/b"), Status::released, kNow + 5s);
  Answer answer = make_answer("key", {gone, kept});
  answer.drop_at = kNow + 1s;
  commit([&](Transaction& transaction) {
    transaction.put(gone);
    transaction.put(kept);
    transaction.put(answer);
  });
  clock.advance(10s);

  EXPECT_EQ(forget_all(*this, kNow + 5s, kNoHistory), 1u);
  look([&](View& view) {
    EXPECT_FALSE(view.lease(gone.id));
    EXPECT_EQ(view.answer(ann(), "key"), answer);
  });

  EXPECT_EQ(forget_all(*this, kNow + 6s, kNoHistory), 2u);
  look([&](View& view) {
    EXPECT_FALSE(view.lease(kept.id));
    EXPECT_FALSE(view.answer(ann(), "key"));
  });
}

TEST_P(StoreContract, HistoryIsForgottenByWallTime) {
  commit([&](Transaction& transaction) {
    for (int number = 1; number <= 4; ++number) {
      Event event = make_event(make_lease(number, "/a"));
      event.wall = kWall + std::chrono::seconds(number);
      event.at = kNow - std::chrono::seconds(number);  // Does not count.
      transaction.append(event);
    }
  });

  EXPECT_EQ(forget_all(*this, kNoRecord, kWall + 2s), 1u);
  EXPECT_EQ(forget_all(*this, kNoRecord, kWall + 3s), 1u);

  look([](View& view) {
    const auto events = view.history({});
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].lease_id, lease_id(3));
    EXPECT_EQ(events[1].lease_id, lease_id(4));
  });
}

TEST_P(StoreContract, NoMoreIsForgottenAtOnceThanTheLimit) {
  for (int number = 1; number <= 3; ++number) {
    const Lease lease = ended(make_lease(number, "/a"), Status::released, kNow - 1s);
    Notice notice = make_notice(number, lease);
    notice.drop_at = kNow - 1s;
    Answer answer = make_answer(std::to_string(number), {});
    answer.drop_at = kNow - 1s;
    Event event = make_event(lease);
    event.wall = kWall - 1s;
    commit([&](Transaction& transaction) {
      transaction.put(lease);
      transaction.put(ended(make_ticket(number, {"/a"}), Status::failed, kNow - 1s));
      transaction.put(notice);
      transaction.put(answer);
      transaction.append(event);
    });
  }

  const auto forget = [&](std::size_t limit) {
    std::size_t forgotten = 0;
    commit([&](Transaction& transaction) { forgotten = transaction.forget(kNow, kWall, limit); });
    return forgotten;
  };

  EXPECT_EQ(forget(0), 0u);
  EXPECT_EQ(forget(7), 7u);
  EXPECT_EQ(forget(7), 7u);
  EXPECT_EQ(forget(7), 1u);
  EXPECT_EQ(forget(7), 0u);
}

TEST_P(StoreContract, WhoForgetsLessThanTheLimitHasForgottenAll) {
  constexpr std::size_t kLimit = 4;
  for (int number = 1; number <= 3; ++number) {
    commit([&](Transaction& transaction) {
      for (int i = 0; i < 3; ++i) {
        Event event = make_event(make_lease(number, "/a"));
        event.wall = kWall - 1s;
        transaction.append(event);
      }
    });
  }

  std::size_t total = 0;
  std::size_t forgotten = kLimit;
  while (forgotten >= kLimit) {
    commit([&](Transaction& transaction) { forgotten = transaction.forget(kNoRecord, kWall, kLimit); });
    total += forgotten;
  }

  EXPECT_EQ(total, 9U);
  look([](View& view) { EXPECT_TRUE(view.history({}).empty()); });
}

TEST_P(StoreContract, WhatIsForgottenIsFoundByNobody) {
  commit([&](Transaction& transaction) {
    transaction.put(ended(make_lease(1, "/a"), Status::released, kNow - 1s));
    transaction.put(ended(make_ticket(1, {"/a"}), Status::failed, kNow - 1s));
  });

  const auto writes = [](Transaction& transaction) { transaction.forget(kNow, kNoHistory, 10); };

  Footprint footprint = scope_named({"/a", false});
  footprint.leases = {lease_id(1)};
  footprint.tickets = {group_id(1)};
  footprint.owners = {ann()};
  expect_reads(writes, footprint, [](View& view) {
    EXPECT_FALSE(view.lease(lease_id(1)));
    EXPECT_FALSE(view.ticket(group_id(1)));
    EXPECT_FALSE(view.last_lease(ann(), "/a"));
  });
}

TEST_P(StoreContract, WhenTheLastLeaseIsForgottenTheOneBeforeItIsTheLast) {
  commit([&](Transaction& transaction) {
    transaction.put(ended(make_lease(1, "/a"), Status::released, kNow));
    transaction.put(ended(make_lease(2, "/a"), Status::released, kNow - 1s));
  });

  EXPECT_EQ(forget_all(*this, kNow, kNoHistory), 1u);

  look([](View& view) { EXPECT_EQ(view.last_lease(ann(), "/a").value().id, lease_id(1)); });
}

TEST_P(StoreContract, AnAbortedForgetForgetsNothing) {
  const Lease lease = ended(make_lease(1, "/a"), Status::released, kNow - 1s);
  commit([&](Transaction& transaction) {
    transaction.put(lease);
    transaction.put(ended(make_ticket(1, {"/a"}), Status::failed, kNow - 1s));
    transaction.put(make_notice(1, lease));
    transaction.put(make_answer("key", {lease}));
    for (int number = 1; number <= 3; ++number) transaction.append(make_event(make_lease(number, "/a")));
  });
  clock.advance(2h);

  abort([](Transaction& transaction) { EXPECT_EQ(transaction.forget(kNow, kWall + 1s, 100), 7u); });

  look([&](View& view) {
    EXPECT_EQ(view.lease(lease.id), lease);
    EXPECT_TRUE(view.ticket(group_id(1)));
    EXPECT_EQ(view.notices(ann()).size(), 1u);
    EXPECT_TRUE(view.answer(ann(), "key"));
    const auto events = view.history({});
    ASSERT_EQ(events.size(), 3u);
    for (int number = 1; number <= 3; ++number) {
      EXPECT_EQ(events[static_cast<std::size_t>(number - 1)].lease_id, lease_id(number));
    }
  });
}

TEST_P(StoreContract, AnAbortedForgetDoesNotChangeWhichLeaseIsTheLast) {
  commit([&](Transaction& transaction) {
    transaction.put(ended(make_lease(1, "/a"), Status::released, kNow - 2s));
    transaction.put(ended(make_lease(2, "/a"), Status::released, kNow - 1s));
    transaction.put(make_lease(3, "/a"));
    transaction.put(ended(make_lease(4, "/b"), Status::released, kNow - 2s));
    transaction.put(ended(make_lease(5, "/b"), Status::released, kNow - 1s));
  });

  abort([](Transaction& transaction) { EXPECT_EQ(transaction.forget(kNow, kNoHistory, 100), 4u); });

  look([](View& view) {
    EXPECT_EQ(view.last_lease(ann(), "/a").value().id, lease_id(3));
    EXPECT_EQ(view.last_lease(ann(), "/b").value().id, lease_id(5));
  });
}

TEST_P(StoreContract, TokensAndSequencesRiseOnAfterEverythingIsForgotten) {
  Token before;
  std::uint64_t sequence_before = 0;
  commit([&](Transaction& transaction) {
    Lease lease = ended(make_lease(1, "/a"), Status::released, kNow);
    lease.token = before = transaction.next_token();
    transaction.put(lease);
    transaction.append(make_event(lease));
  });
  look([&](View& view) { sequence_before = view.history({}).at(0).sequence; });
  clock.step_wall(-1h);

  EXPECT_EQ(forget_all(*this, kForever, WallTime::max()), 2u);

  commit([&](Transaction& transaction) {
    Lease lease = make_lease(2, "/a");
    lease.token = transaction.next_token();
    EXPECT_GT(lease.token, before);
    transaction.put(lease);
    transaction.append(make_event(lease));
  });
  look([&](View& view) {
    ASSERT_EQ(view.history({}).size(), 1u);
    EXPECT_GT(view.history({})[0].sequence, sequence_before);
  });
}

}  // namespace
}  // namespace leasehold
