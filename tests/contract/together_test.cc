// Calls that may become one commit: each is all or nothing, and seen by those after it.
#include <poll.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "contract/store_contract.h"

namespace leasehold {
namespace {

Result<void> put(Store& store, int number, bool fails = false) {
  return store.transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
    transaction.put(make_lease(number, "/" + std::to_string(number)));
    transaction.ring(group_id(number));
    if (fails) return fail(Code::busy, "changed its mind");
    return {};
  });
}

TEST_P(StoreContract, CallsTogetherAreKeptTogether) {
  const auto kept = store->together([&] {
    EXPECT_TRUE(put(*store, 1));
    EXPECT_TRUE(put(*store, 2));
  });

  EXPECT_TRUE(kept);
  look([](View& view) { EXPECT_EQ(ids(view.leases({})), lease_ids({1, 2})); });
}

TEST_P(StoreContract, OneOfThemThatFailsBeforeItWritesTakesNothingWithIt) {
  const auto kept = store->together([&] {
    EXPECT_TRUE(put(*store, 1));
    const auto failed = store->transact({.workspace = kWorkspace, .scopes = {{"/1"}}},
                                        [](Transaction& transaction) -> Result<void> {
                                          EXPECT_EQ(ids(transaction.leases_at({"/1"})), lease_ids({1}));
                                          transaction.next_token();
                                          return fail(Code::busy, "changed its mind");
                                        });
    EXPECT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::busy);
    EXPECT_TRUE(put(*store, 3));
  });

  EXPECT_TRUE(kept);
  look([](View& view) { EXPECT_EQ(ids(view.leases({})), lease_ids({1, 3})); });
}

TEST_P(StoreContract, OneOfThemThatFailsAfterItWroteTakesNothingWithItTheSecondTime) {
  Result<void> first;
  Result<void> last;
  const auto run = [&] {
    return store->together([&] {
      first = put(*store, 1);
      EXPECT_FALSE(put(*store, 2, true));
      last = put(*store, 3);
    });
  };
  auto kept = run();
  if (!kept) {
    EXPECT_EQ(kept.error().code, Code::transaction_conflict);
    look([](View& view) { EXPECT_TRUE(view.leases({}).empty()); });
    kept = run();
  }

  EXPECT_TRUE(kept);
  EXPECT_TRUE(first);
  EXPECT_TRUE(last);
  look([](View& view) { EXPECT_EQ(ids(view.leases({})), lease_ids({1, 3})); });
}

TEST_P(StoreContract, WhatIsForgottenAmongThemIsGoneForTheNext) {
  commit([](Transaction& transaction) {
    Ticket ticket = make_ticket(1, {"/a"});
    ticket.status = Status::failed;
    ticket.ended_by = EndCause::timed_out;
    ticket.ended_at = ManualClock::kStart - std::chrono::seconds(1);
    transaction.put(ticket);
  });
  const auto kept = store->together([&] {
    commit([](Transaction& transaction) { EXPECT_TRUE(transaction.ticket(group_id(1))); });
    commit([](Transaction& transaction) { transaction.forget(ManualClock::kStart, WallTime{}, 100); });
    commit([](Transaction& transaction) { EXPECT_FALSE(transaction.ticket(group_id(1))); });
  });

  EXPECT_TRUE(kept);
}

TEST_P(StoreContract, WhatFailsAfterItWroteIsNotCounted) {
  const Owner owner = make_lease(2, "/2").holder.owner;
  EXPECT_TRUE(put(*store, 1));
  std::ignore = store->together([&] { EXPECT_FALSE(put(*store, 2, true)); });

  look([&](View& view) { EXPECT_EQ(view.lease_count(owner), view.leases({}).size()); });
}

TEST_P(StoreContract, CallsForSeveralWorkspacesCanBeTogether) {
  const auto put_in = [&](const std::string& workspace, int number) {
    return store->transact({.workspace = workspace}, [&](Transaction& transaction) -> Result<void> {
      Lease lease = make_lease(number, "/" + std::to_string(number));
      lease.workspace = workspace;
      lease.token = transaction.next_token();
      transaction.put(lease);
      transaction.append(make_event(lease));
      return {};
    });
  };
  const auto kept = store->together([&] {
    EXPECT_TRUE(put_in(kWorkspace, 1));
    EXPECT_TRUE(put_in("another", 2));
    EXPECT_TRUE(put_in(kWorkspace, 3));
  });

  EXPECT_TRUE(kept);
  std::vector<Lease> all;
  for (const std::string& workspace : {std::string(kWorkspace), std::string("another")}) {
    const auto looked = store->view({.workspace = workspace}, [&](View& view) -> Result<void> {
      EXPECT_EQ(view.history({}).size(), workspace == kWorkspace ? 2u : 1u);
      std::ranges::move(view.leases({}), std::back_inserter(all));
      return {};
    });
    EXPECT_TRUE(looked);
  }
  EXPECT_EQ(ids(all), lease_ids({1, 2, 3}));
  std::ranges::sort(all, {}, &Lease::id);
  EXPECT_LT(all[0].token, all[1].token);
  EXPECT_LT(all[1].token, all[2].token);
}

TEST_P(StoreContract, TheNextOfThemSeesWhatOneWrote) {
  const auto kept = store->together([&] {
    EXPECT_TRUE(put(*store, 1));
    look([](View& view) { EXPECT_TRUE(view.lease(lease_id(1))); });
    commit([](Transaction& transaction) { EXPECT_TRUE(transaction.lease(lease_id(1))); });
  });

  EXPECT_TRUE(kept);
}

TEST_P(StoreContract, TokensRiseAmongThem) {
  std::vector<Token> tokens;
  const auto kept = store->together([&] {
    for (int i = 0; i < 3; ++i) {
      commit([&](Transaction& transaction) {
        Lease lease = make_lease(i, "/a");
        lease.token = transaction.next_token();
        transaction.put(lease);  // A token counts once it is written.
        tokens.push_back(lease.token);
      });
    }
  });

  EXPECT_TRUE(kept);
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_LT(tokens[0], tokens[1]);
  EXPECT_LT(tokens[1], tokens[2]);
  commit([&](Transaction& transaction) { EXPECT_LT(tokens[2], transaction.next_token()); });
}

TEST_P(StoreContract, BellsOfThoseThatAreKeptRing) {
  const auto first = store->listen(kWorkspace, group_id(1));
  const auto second = store->listen(kWorkspace, group_id(2));
  ASSERT_TRUE(first && second);

  const auto kept = store->together([&] {
    EXPECT_TRUE(put(*store, 1));
    EXPECT_FALSE(store->transact({.workspace = kWorkspace}, [](Transaction&) -> Result<void> {
      return fail(Code::busy, "changed its mind");
    }));
  });
  EXPECT_TRUE(kept);
  std::ignore = store->together([&] { EXPECT_FALSE(put(*store, 2, true)); });

  pollfd rung = {(*first)->fd(), POLLIN, 0};
  EXPECT_EQ(poll(&rung, 1, 10'000), 1);
  pollfd silent = {(*second)->fd(), POLLIN, 0};
  EXPECT_EQ(poll(&silent, 1, 0), 0);
}

TEST_P(StoreContract, AnotherHandleSeesAllOfThemAfterwards) {
  const auto other = open_again();
  const auto kept = store->together([&] {
    for (int i = 1; i <= 10; ++i) EXPECT_TRUE(put(*store, i));
  });

  EXPECT_TRUE(kept);
  const auto looked = other->view({.workspace = kWorkspace}, [](View& view) -> Result<void> {
    EXPECT_EQ(view.leases({}).size(), 10u);
    return {};
  });
  EXPECT_TRUE(looked);
  EXPECT_TRUE(put(*other, 11));
}

}  // namespace
}  // namespace leasehold
