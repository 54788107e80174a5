// What callers of a store have to expect from it: bodies that are run again, answers that are lost.
#include "contract/store_contract.h"
#include "support/faulty_store.h"

namespace leasehold {
namespace {

TEST_P(StoreContract, ABodyThatIsRunAgainTakesEffectOnce) {
  FaultyStore faulty(*store);
  faulty.run_in_vain(3);
  Lease lease = make_lease(1, "/a");
  commit([&](Transaction& transaction) { transaction.put(lease); });

  int runs = 0;
  const auto done =
      faulty.transact(scope_named({"/a", false}), [&](Transaction& transaction) -> Result<void> {
        ++runs;
        lease = transaction.lease(lease_id(1)).value();
        ++lease.renewal_count;
        lease.token = transaction.next_token();
        transaction.put(lease);
        transaction.append(make_event(lease));
        transaction.put(make_notice(runs, lease));
        return {};
      });

  ASSERT_TRUE(done);
  EXPECT_GE(runs, 4);
  look([&](View& view) {
    EXPECT_EQ(view.lease(lease_id(1)).value().renewal_count, 1);
    EXPECT_EQ(view.lease(lease_id(1)).value().token, lease.token);
    EXPECT_EQ(view.history({}).size(), 1u);
    EXPECT_EQ(ids(view.notices(ann())), std::vector{notice_id(runs)});
  });
}

TEST_P(StoreContract, AfterALostAnswerTheDataIsThere) {
  FaultyStore faulty(*store);
  faulty.lose_answers(1);
  const auto put = [](Transaction& transaction) -> Result<void> {
    transaction.put(make_lease(1, "/a"));
    return {};
  };

  const auto done = faulty.transact(nothing_named(), put);

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::outcome_unknown);
  look([&](View& view) { EXPECT_TRUE(view.lease(lease_id(1))); });
  EXPECT_TRUE(faulty.transact(nothing_named(), put));
  look([&](View& view) { EXPECT_EQ(view.leases({}).size(), 1u); });
}

TEST_P(StoreContract, AfterALostCommitNothingIsThere) {
  FaultyStore faulty(*store);
  faulty.lose_commits(1);
  const auto put = [](Transaction& transaction) -> Result<void> {
    transaction.put(make_lease(1, "/a"));
    return {};
  };

  const auto done = faulty.transact(nothing_named(), put);

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::outcome_unknown);
  look([&](View& view) { EXPECT_FALSE(view.lease(lease_id(1))); });
  EXPECT_TRUE(faulty.transact(nothing_named(), put));
  look([&](View& view) { EXPECT_TRUE(view.lease(lease_id(1))); });
}

TEST_P(StoreContract, ABodysOwnErrorIsNotALostAnswer) {
  FaultyStore faulty(*store);
  faulty.lose_answers(1);
  faulty.lose_commits(1);

  const auto done =
      faulty.transact(nothing_named(), [](Transaction&) -> Result<void> { return fail(Code::busy, "held"); });

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::busy);
}

TEST_P(StoreContract, WhileUnavailableNothingIsWritten) {
  FaultyStore faulty(*store);
  const auto put = [](Transaction& transaction) -> Result<void> {
    transaction.put(make_lease(1, "/a"));
    return {};
  };
  const auto see = [](View&) -> Result<void> { return {}; };

  faulty.be_unavailable(true);
  const auto put_then = faulty.transact(nothing_named(), put);
  const auto seen_then = faulty.view(nothing_named(), see);
  const auto bell_then = faulty.listen(kWorkspace, group_id(1));
  faulty.be_unavailable(false);

  ASSERT_FALSE(put_then);
  ASSERT_FALSE(seen_then);
  ASSERT_FALSE(bell_then);
  EXPECT_EQ(put_then.error().code, Code::unavailable);
  EXPECT_EQ(seen_then.error().code, Code::unavailable);
  EXPECT_EQ(bell_then.error().code, Code::unavailable);
  look([&](View& view) { EXPECT_FALSE(view.lease(lease_id(1))); });
  EXPECT_TRUE(faulty.transact(nothing_named(), put));
  EXPECT_TRUE(faulty.view(nothing_named(), see));
  EXPECT_TRUE(faulty.listen(kWorkspace, group_id(1)));
}

}  // namespace
}  // namespace leasehold
