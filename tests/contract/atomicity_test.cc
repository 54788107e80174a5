// All of a body's writes, or none.
#include <fmt/format.h>

#include <stdexcept>

#include "contract/store_contract.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

TEST_P(StoreContract, AnEmptyStoreHasNothing) {
  look([&](View& view) {
    EXPECT_TRUE(view.leases_at({"/", true}).empty());
    EXPECT_TRUE(view.tickets_at({"/", true}).empty());
    EXPECT_FALSE(view.lease(lease_id(1)));
    EXPECT_FALSE(view.ticket(group_id(1)));
    EXPECT_FALSE(view.last_lease(ann(), "/a"));
    EXPECT_TRUE(view.leases({}).empty());
    EXPECT_TRUE(view.tickets({}).empty());
    EXPECT_EQ(view.lease_count(ann()), 0u);
    EXPECT_TRUE(view.notices(ann()).empty());
    EXPECT_FALSE(view.answer(ann(), "key"));
    EXPECT_TRUE(view.due(kForever, 10).leases.empty());
    EXPECT_TRUE(view.due(kForever, 10).tickets.empty());
    EXPECT_TRUE(view.history({}).empty());
  });
}

TEST_P(StoreContract, AnAbortedBodyLeavesNoLease) {
  abort([&](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });

  look([&](View& view) {
    EXPECT_FALSE(view.lease(lease_id(1)));
    EXPECT_FALSE(view.last_lease(ann(), "/a"));
    EXPECT_TRUE(view.leases_at({"/a", false}).empty());
    EXPECT_TRUE(view.leases({}).empty());
    EXPECT_EQ(view.lease_count(ann()), 0u);
    EXPECT_TRUE(view.due(kForever, 10).leases.empty());
  });
}

TEST_P(StoreContract, AnAbortedChangeLeavesTheLeaseAsItWas) {
  const Lease before = make_lease(1, "/a");
  commit([&](Transaction& transaction) { transaction.put(before); });

  abort([&](Transaction& transaction) {
    Lease changed = make_lease(1, "/b", bob());
    changed.renewal_count = 1;
    transaction.put(changed);
    transaction.put(ended(changed, Status::released, clock.now()));
  });

  look([&](View& view) {
    EXPECT_EQ(view.lease(lease_id(1)), before);
    EXPECT_EQ(view.last_lease(ann(), "/a"), before);
    EXPECT_FALSE(view.last_lease(bob(), "/b"));
    EXPECT_EQ(view.leases_at({"/", true}), std::vector{before});
    EXPECT_EQ(view.leases({}), std::vector{before});
    EXPECT_EQ(view.lease_count(ann()), 1u);
    EXPECT_EQ(view.lease_count(bob()), 0u);
    EXPECT_EQ(view.due(before.expires_at, 10).leases, std::vector{before});
  });
}

TEST_P(StoreContract, AnAbortedBodyLeavesNoTicket) {
  abort([&](Transaction& transaction) { transaction.put(make_ticket(1, {"/a", "/b"})); });

  look([&](View& view) {
    EXPECT_FALSE(view.ticket(group_id(1)));
    EXPECT_TRUE(view.tickets_at({"/a", false}).empty());
    EXPECT_TRUE(view.tickets({}).empty());
    EXPECT_TRUE(view.due(kForever, 10).tickets.empty());
  });
}

TEST_P(StoreContract, AnAbortedChangeLeavesTheTicketAsItWas) {
  const Ticket before = make_ticket(1, {"/a"});
  commit([&](Transaction& transaction) { transaction.put(before); });

  abort([&](Transaction& transaction) {
    transaction.put(make_ticket(1, {"/b", "/c"}, ann()));
    transaction.put(ended(before, Status::failed, clock.now()));
  });

  look([&](View& view) {
    EXPECT_EQ(view.ticket(group_id(1)), before);
    EXPECT_EQ(view.tickets_at({"/", true}), std::vector{before});
    EXPECT_TRUE(view.tickets_at({"/b", false}).empty());
    EXPECT_EQ(view.tickets({}), std::vector{before});
    EXPECT_EQ(view.due(before.proven_until, 10).tickets, std::vector{before});
  });
}

TEST_P(StoreContract, AnAbortedBodyLeavesAnswersAsTheyWere) {
  const Answer before = make_answer("old", {});
  commit([&](Transaction& transaction) { transaction.put(before); });

  abort([&](Transaction& transaction) {
    Answer changed = before;
    changed.request_hash = "another";
    transaction.put(changed);
    transaction.put(make_answer("new", {}));
  });

  look([&](View& view) {
    EXPECT_EQ(view.answer(ann(), "old"), before);
    EXPECT_FALSE(view.answer(ann(), "new"));
  });
}

TEST_P(StoreContract, AnAbortedBodyLeavesNoticesAsTheyWere) {
  const Notice before = make_notice(1, make_lease(1, "/a"));
  const Notice erased = make_notice(2, make_lease(2, "/b", bob()));
  commit([&](Transaction& transaction) {
    transaction.put(before);
    transaction.put(erased);
  });

  abort([&](Transaction& transaction) {
    Notice changed = before;
    changed.reason = "another";
    transaction.put(changed);
    transaction.put(make_notice(3, make_lease(3, "/c")));
    transaction.erase(erased);
  });

  look([&](View& view) {
    EXPECT_EQ(view.notices(ann()), std::vector{before});
    EXPECT_EQ(view.notices(bob()), std::vector{erased});
  });
}

TEST_P(StoreContract, AnAbortedBodyLeavesNoHistory) {
  const Event kept = make_event(make_lease(1, "/a"));
  commit([&](Transaction& transaction) { transaction.append(kept); });

  abort([&](Transaction& transaction) {
    transaction.append(make_event(make_lease(2, "/b")));
    transaction.append(make_event(make_lease(3, "/c")));
  });

  look([&](View& view) {
    const auto events = view.history({});
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].lease_id, lease_id(1));
  });
}

// The contract asks no body to throw, but whatever happens in one must not leave half of it behind,
// nor the store unusable.
TEST_P(StoreContract, ABodyThatThrowsLeavesNothingAndTheStoreGoesOn) {
  const auto body = [](Transaction& transaction) -> Result<void> {
    transaction.put(make_lease(1, "/a"));
    transaction.append(make_event(make_lease(1, "/a")));
    throw std::runtime_error("out of luck");
  };
  EXPECT_THROW((void)store->transact(nothing_named(), body), std::runtime_error);

  commit([&](Transaction& transaction) { transaction.put(make_lease(2, "/b")); });
  look([&](View& view) {
    EXPECT_EQ(ids(view.leases({})), lease_ids({2}));
    EXPECT_TRUE(view.history({}).empty());
  });
}

TEST_P(StoreContract, AViewThatReturnsAnErrorSaysSo) {
  const Error error{Code::not_found, "no such lease"};

  const auto done = store->view(nothing_named(), [&](View&) -> Result<void> { return fail(error); });

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), error);
}

TEST_P(StoreContract, ALaterWriteOfTheSameBodyWins) {
  commit([&](Transaction& transaction) {
    Lease lease = make_lease(1, "/a");
    transaction.put(lease);
    lease.renewal_count = 1;
    transaction.put(lease);
    lease.path = "/b";
    transaction.put(lease);
  });

  look([&](View& view) {
    ASSERT_EQ(paths(view.leases({})), std::vector<std::string>{"/b"});
    EXPECT_EQ(view.lease(lease_id(1)).value().renewal_count, 1);
    EXPECT_TRUE(view.leases_at({"/a", false}).empty());
    EXPECT_FALSE(view.last_lease(ann(), "/a"));
  });
}

TEST_P(StoreContract, WhatIsExtendedHasItsNewTerm) {
  constexpr int kLeases = 12;
  const auto lease = [](int i) { return make_lease(i, fmt::format("/{}", i)); };
  const auto extended = [&](int i) {
    Lease renewed = lease(i);
    renewed.expires_at += 1h;
    renewed.ttl += 1h;
    renewed.last_heartbeat_at += 1min;
    renewed.updated_at += 1min;
    ++renewed.renewal_count;
    return renewed;
  };
  commit([&](Transaction& transaction) {
    for (int i = 0; i < kLeases; ++i) transaction.put(lease(i));
  });
  const auto extend_all = [&](Transaction& transaction) {
    EXPECT_EQ(transaction.leases({}).size(), static_cast<std::size_t>(kLeases));
    for (int i = 0; i < kLeases; ++i) transaction.extend(extended(i));
    for (const int i : {1, kLeases - 1}) EXPECT_EQ(transaction.lease(lease_id(i)), extended(i));
    EXPECT_TRUE(transaction.due(lease(0).expires_at, 10).leases.empty());
    for (const int i : {2, kLeases - 2}) transaction.put(ended(extended(i), Status::released, clock.now()));
  };

  abort(extend_all);
  look([&](View& view) {
    for (const int i : {1, 2, kLeases - 2, kLeases - 1}) EXPECT_EQ(view.lease(lease_id(i)), lease(i));
    EXPECT_EQ(view.due(lease(0).expires_at, kLeases).leases.size(), static_cast<std::size_t>(kLeases));
  });

  commit(extend_all);
  look([&](View& view) {
    for (const int i : {1, kLeases - 1}) EXPECT_EQ(view.lease(lease_id(i)), extended(i));
    for (const int i : {2, kLeases - 2}) EXPECT_EQ(view.lease(lease_id(i))->status, Status::released);
    EXPECT_TRUE(view.due(lease(0).expires_at, 10).leases.empty());
    EXPECT_EQ(view.lease_count(ann()), static_cast<std::size_t>(kLeases - 2));
  });
}

TEST_P(StoreContract, ABodySeesOneTimeEvenIfTheClockMoves) {
  commit([&](Transaction& transaction) {
    const Time now = transaction.now();
    const WallTime wall = transaction.wall();
    clock.advance(1s);

    EXPECT_EQ(transaction.now(), now);
    EXPECT_EQ(transaction.wall(), wall);
  });
  look([&](View& view) {
    const Time now = view.now();
    const WallTime wall = view.wall();
    clock.advance(1s);

    EXPECT_EQ(view.now(), now);
    EXPECT_EQ(view.wall(), wall);
  });
}

TEST_P(StoreContract, TheNextBodySeesTheClockMoved) {
  clock.advance(1s);
  clock.step_wall(-1h);

  const auto expect_moved = [&](View& view) {
    EXPECT_EQ(view.now(), ManualClock::kStart + 1s);
    EXPECT_EQ(view.wall(), ManualClock::kWallStart + 1s - 1h);
  };
  look(expect_moved);
  commit(expect_moved);
}

}  // namespace
}  // namespace leasehold
