// Nothing of another workspace is seen or written.
#include "contract/store_contract.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr const char* kThere = "there";

TEST_P(StoreContract, RecordsOfOneWorkspaceAreNotSeenFromAnother) {
  commit([&](Transaction& transaction) {
    const Lease lease = make_lease(1, "/a");
    transaction.put(lease);
    transaction.put(make_ticket(1, {"/a"}, ann()));
    transaction.put(make_notice(1, lease));
    transaction.put(make_answer("key", {lease}));
    transaction.append(make_event(lease));
  });

  look_in(kThere, [](View& view) {
    EXPECT_FALSE(view.lease(lease_id(1)));
    EXPECT_FALSE(view.ticket(group_id(1)));
    EXPECT_FALSE(view.last_lease(ann(), "/a"));
    EXPECT_TRUE(view.leases_at({"/", true}).empty());
    EXPECT_TRUE(view.tickets_at({"/", true}).empty());
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

TEST_P(StoreContract, TheSamePathIsAnotherInAnotherWorkspace) {
  Lease there = make_lease(2, "/a", bob());
  there.workspace = kThere;
  Answer answer_there = make_answer("key", {there});
  answer_there.owner = ann();
  commit([&](Transaction& transaction) {
    transaction.put(make_lease(1, "/a"));
    transaction.put(make_answer("key", {make_lease(1, "/a")}));
  });
  commit_in(kThere, [&](Transaction& transaction) {
    transaction.put(there);
    transaction.put(answer_there);
  });

  look([](View& view) {
    EXPECT_EQ(ids(view.leases_at({"/a", false})), lease_ids({1}));
    EXPECT_EQ(view.answer(ann(), "key"), make_answer("key", {make_lease(1, "/a")}));
  });
  look_in(kThere, [&](View& view) {
    EXPECT_EQ(view.leases_at({"/a", false}), std::vector{there});
    EXPECT_EQ(view.answer(ann(), "key"), answer_there);
  });
}

TEST_P(StoreContract, WorkspacesThatLookAlikeStayApart) {
  const std::vector<std::string> workspaces = {"a", "A", "a/b", "a:b", "a%", "a_", "a*", "a ", "ab", ""};
  int number = 0;
  for (const std::string& workspace : workspaces) {
    Lease lease = make_lease(++number, "/b");
    lease.workspace = workspace;
    commit_in(workspace, [&](Transaction& transaction) { transaction.put(lease); });
  }

  number = 0;
  for (const std::string& workspace : workspaces) {
    SCOPED_TRACE(workspace);
    ++number;
    look_in(workspace, [&](View& view) { EXPECT_EQ(ids(view.leases({})), lease_ids({number})); });
  }
}

TEST_P(StoreContract, HistoryIsThatOfTheWorkspaceAndItsSequenceRises) {
  for (const char* workspace : {kWorkspace, kThere, kWorkspace, kThere}) {
    commit_in(workspace, [&](Transaction& transaction) {
      Event event = make_event(make_lease(1, "/a"));
      event.reason = workspace;
      transaction.append(event);
    });
  }

  for (const char* workspace : {kWorkspace, kThere}) {
    look_in(workspace, [&](View& view) {
      const auto events = view.history({});
      ASSERT_EQ(events.size(), 2u);
      EXPECT_EQ(events[0].reason, workspace);
      EXPECT_EQ(events[1].reason, workspace);
      EXPECT_GT(events[1].sequence, events[0].sequence);
    });
  }
}

TEST_P(StoreContract, ForgettingLeavesOtherWorkspacesAlone) {
  Lease lease = ended(make_lease(1, "/a"), Status::released, ManualClock::kStart - 1s);
  lease.workspace = kThere;
  commit_in(kThere, [&](Transaction& transaction) {
    transaction.put(lease);
    transaction.append(make_event(lease));
  });

  commit([](Transaction& transaction) { EXPECT_EQ(transaction.forget(kForever, WallTime::max(), 100), 0u); });

  look_in(kThere, [](View& view) {
    EXPECT_TRUE(view.lease(lease_id(1)));
    EXPECT_EQ(view.history({}).size(), 1u);
  });
}

}  // namespace
}  // namespace leasehold
