// Calls that may become one commit: each is all or nothing, and seen by those after it.
#include <poll.h>

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

TEST_P(StoreContract, OneOfThemThatFailsTakesNothingWithIt) {
  const auto kept = store->together([&] {
    EXPECT_TRUE(put(*store, 1));
    const auto failed = put(*store, 2, true);
    EXPECT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::busy);
    EXPECT_TRUE(put(*store, 3));
  });

  EXPECT_TRUE(kept);
  look([](View& view) { EXPECT_EQ(ids(view.leases({})), lease_ids({1, 3})); });
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
  const auto first = store->listen(group_id(1));
  const auto second = store->listen(group_id(2));
  ASSERT_TRUE(first && second);

  const auto kept = store->together([&] {
    EXPECT_TRUE(put(*store, 1));
    EXPECT_FALSE(put(*store, 2, true));
  });

  EXPECT_TRUE(kept);
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
