// Finding records by id, owner, path and status.
#include "contract/store_contract.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

Footprint everything_named() {
  Footprint footprint = nothing_named();
  footprint.scopes = {{"/", true}};
  footprint.owners = {ann(), bob()};
  for (int number = 1; number <= 6; ++number) {
    footprint.leases.push_back(lease_id(number));
    footprint.tickets.push_back(group_id(number));
  }
  return footprint;
}

// Owners that a careless key would take for one another. All are legal ones.
const std::vector<Owner> kSimilarOwners = {
    {"a", "bc"},   {"ab", "c"},   {"abc", ""},  {"a:b", "c"}, {"a", "b:c"}, {"a:b:c", ""}, {"a", "b"},
    {"a", ""},     {"A", "b"},    {"a", "B"},   {"a ", "b"},  {" a", "b"},  {"a/b", "c"},  {"a|b", "c"},
    {"a%", "b"},   {"a_", "b"},   {"a*", "b"},  {"a'", "b"},  {"a\"", "b"}, {"a\\", "b"},  {"a@b", "c"},
    {"a", "b.c"},  {"a", "b-c"},  {"a-b", "c"}, {"a.b", "c"}, {"{a}", "b"}, {"[a]", "b"},  {"a,b", "c"},
    {"null", "b"}, {"a", "null"}, {"0", "1"},   {"00", "1"},
};

TEST_P(StoreContract, PutReplacesTheLeaseWithTheSameId) {
  const Lease moved = make_lease(1, "/new", bob());
  commit([&](Transaction& transaction) { transaction.put(make_lease(1, "/old")); });

  const auto writes = [&](Transaction& transaction) { transaction.put(moved); };

  expect_reads(writes, everything_named(), [&](View& view) {
    EXPECT_EQ(view.lease(lease_id(1)), moved);
    EXPECT_EQ(view.leases({}), std::vector{moved});
    EXPECT_EQ(view.leases_at({"/", true}), std::vector{moved});
    EXPECT_TRUE(view.leases_at({"/old", false}).empty());
    EXPECT_EQ(view.leases_at({"/new", false}), std::vector{moved});
    EXPECT_EQ(view.lease_count(ann()), 0u);
    EXPECT_EQ(view.lease_count(bob()), 1u);
    EXPECT_FALSE(view.last_lease(ann(), "/old"));
    EXPECT_EQ(view.last_lease(bob(), "/new"), moved);
  });
}

TEST_P(StoreContract, PutReplacesTheTicketWithTheSameId) {
  const Ticket changed = make_ticket(1, {"/b", "/c"}, ann());
  commit([&](Transaction& transaction) { transaction.put(make_ticket(1, {"/a", "/b"})); });

  const auto writes = [&](Transaction& transaction) { transaction.put(changed); };

  expect_reads(writes, everything_named(), [&](View& view) {
    EXPECT_EQ(view.ticket(group_id(1)), changed);
    EXPECT_EQ(view.tickets({}), std::vector{changed});
    EXPECT_TRUE(view.tickets_at({"/a", false}).empty());
    EXPECT_EQ(view.tickets_at({"/b", false}), std::vector{changed});
    EXPECT_EQ(view.tickets_at({"/c", false}), std::vector{changed});
  });
}

TEST_P(StoreContract, ALeaseIsFoundByPathAndOwnerOnlyWhileItIsActive) {
  const auto expect_visible = [&](Status status, bool visible) {
    SCOPED_TRACE(word(status));
    Lease lease = make_lease(1, "/a");
    lease.status = status;
    const std::size_t count = visible ? 1 : 0;

    const auto writes = [&](Transaction& transaction) { transaction.put(lease); };

    expect_reads(writes, everything_named(), [&](View& view) {
      EXPECT_EQ(view.leases_at({"/a", false}).size(), count);
      EXPECT_EQ(view.leases_at({"/", true}).size(), count);
      EXPECT_EQ(view.leases({}).size(), count);
      EXPECT_EQ(view.lease_count(ann()), count);
      EXPECT_EQ(view.due(kForever, 10).leases.size(), count);
      EXPECT_EQ(view.lease(lease_id(1)), lease);
      const bool was_held = status != Status::pending && status != Status::failed;
      EXPECT_EQ(view.last_lease(ann(), "/a"), was_held ? std::optional(lease) : std::nullopt);
    });
  };

  expect_visible(Status::pending, false);
  expect_visible(Status::active, true);
  expect_visible(Status::released, false);
  expect_visible(Status::active, true);
  expect_visible(Status::expired, false);
  expect_visible(Status::pending, false);
  expect_visible(Status::failed, false);
}

TEST_P(StoreContract, ATicketIsFoundByPathAndOwnerOnlyWhileItIsPending) {
  const auto expect_visible = [&](Status status, bool visible) {
    SCOPED_TRACE(word(status));
    Ticket ticket = make_ticket(1, {"/a", "/b"});
    ticket.status = status;
    const std::size_t count = visible ? 1 : 0;

    const auto writes = [&](Transaction& transaction) { transaction.put(ticket); };

    expect_reads(writes, everything_named(), [&](View& view) {
      EXPECT_EQ(view.tickets_at({"/a", false}).size(), count);
      EXPECT_EQ(view.tickets_at({"/b", false}).size(), count);
      EXPECT_EQ(view.tickets_at({"/", true}).size(), count);
      EXPECT_EQ(view.tickets({}).size(), count);
      EXPECT_EQ(view.due(kForever, 10).tickets.size(), count);
      EXPECT_EQ(view.ticket(group_id(1)), ticket);
    });
  };

  expect_visible(Status::pending, true);
  expect_visible(Status::active, false);
  expect_visible(Status::released, false);
  expect_visible(Status::pending, true);
  expect_visible(Status::failed, false);
}

TEST_P(StoreContract, LeasesAndTicketsAreFoundByIdWhateverTheirStatus) {
  const auto writes = [](Transaction& transaction) {
    transaction.put(ended(make_lease(1, "/a"), Status::released, ManualClock::kStart));
    transaction.put(ended(make_ticket(2, {"/a"}), Status::failed, ManualClock::kStart));
    transaction.put(make_lease(3, "/a"));
    transaction.put(make_ticket(4, {"/a"}));
  };

  expect_reads(writes, everything_named(), [](View& view) {
    EXPECT_EQ(view.lease(lease_id(1)), ended(make_lease(1, "/a"), Status::released, ManualClock::kStart));
    EXPECT_EQ(view.ticket(group_id(2)), ended(make_ticket(2, {"/a"}), Status::failed, ManualClock::kStart));
    EXPECT_EQ(view.lease(lease_id(3)), make_lease(3, "/a"));
    EXPECT_EQ(view.ticket(group_id(4)), make_ticket(4, {"/a"}));
    EXPECT_FALSE(view.lease(lease_id(2)));
    EXPECT_FALSE(view.ticket(group_id(1)));
  });
}

TEST_P(StoreContract, TheLastLeaseIsTheOneCreatedLast) {
  const auto writes = [](Transaction& transaction) {
    for (const int number : {3, 1, 2}) {  // Not in the order of their ids.
      Lease lease = ended(make_lease(number, "/a"), Status::released, ManualClock::kStart + 1s);
      lease.created_at = ManualClock::kStart + (number == 2 ? 2ms : number == 1 ? 1ms : 0ms);
      transaction.put(lease);
    }
  };

  expect_reads(writes, everything_named(),
               [](View& view) { EXPECT_EQ(view.last_lease(ann(), "/a").value().id, lease_id(2)); });
}

TEST_P(StoreContract, OfLeasesCreatedAtOneMomentTheLastOneIsTheOnePutLast) {
  for (const int number : {2, 3, 1}) {
    commit([&](Transaction& transaction) {
      transaction.put(ended(make_lease(number, "/a"), Status::released, clock.now()));
    });
  }

  look([](View& view) { EXPECT_EQ(view.last_lease(ann(), "/a").value().id, lease_id(1)); });
}

// Who waits for what it once had, or waited in vain, had it last before that.
TEST_P(StoreContract, TheLastLeaseIsOneThatIsOrWasHeld) {
  for (const Status status : {Status::pending, Status::failed}) {
    const auto writes = [&](Transaction& transaction) {
      transaction.put(ended(make_lease(1, "/a"), Status::released, ManualClock::kStart + 1s));
      Lease waiting = make_lease(2, "/a");
      waiting.status = status;
      transaction.put(waiting);
    };

    expect_reads(writes, everything_named(),
                 [](View& view) { EXPECT_EQ(view.last_lease(ann(), "/a").value().id, lease_id(1)); });
  }

  commit([](Transaction& transaction) { transaction.put(make_lease(2, "/a")); });
  look([](View& view) { EXPECT_EQ(view.last_lease(ann(), "/a").value().id, lease_id(2)); });
}

TEST_P(StoreContract, AChangeOfAnOldLeaseDoesNotMakeItTheLast) {
  commit([&](Transaction& transaction) {
    transaction.put(make_lease(2, "/a"));
    transaction.put(make_lease(1, "/a"));
  });

  const auto writes = [](Transaction& transaction) {
    transaction.put(ended(make_lease(2, "/a"), Status::released, ManualClock::kStart + 1s));
  };

  expect_reads(writes, everything_named(),
               [](View& view) { EXPECT_EQ(view.last_lease(ann(), "/a").value().id, lease_id(1)); });
}

TEST_P(StoreContract, TheLastLeaseIsOneOfThatOwnerOnExactlyThatPath) {
  const auto writes = [](Transaction& transaction) {
    Lease subtree = make_lease(1, "/src");
    subtree.subtree = true;
    transaction.put(subtree);
    transaction.put(make_lease(2, "/src/a"));
    transaction.put(make_lease(3, "/src/a", bob()));
    transaction.put(make_lease(4, "/src/a", {ann().agent_id, "another-session"}));
  };

  expect_reads(writes, everything_named(), [](View& view) {
    EXPECT_EQ(view.last_lease(ann(), "/src").value().id, lease_id(1));
    EXPECT_EQ(view.last_lease(ann(), "/src/a").value().id, lease_id(2));
    EXPECT_EQ(view.last_lease(bob(), "/src/a").value().id, lease_id(3));
    EXPECT_FALSE(view.last_lease(bob(), "/src"));
    EXPECT_FALSE(view.last_lease(ann(), "/src/"));
    EXPECT_FALSE(view.last_lease(ann(), "/src/b"));
    EXPECT_FALSE(view.last_lease({ann().agent_id, ""}, "/src/a"));
  });
}

TEST_P(StoreContract, TheLastLeaseInASessionIsThatOfAnyOfItsAgents) {
  const auto writes = [](Transaction& transaction) {
    transaction.put(make_lease(1, "/a", {"ann", "s"}));
    transaction.put(ended(make_lease(2, "/a", {"bob", "s"}), Status::released, ManualClock::kStart + 1s));
    transaction.put(make_lease(3, "/a", {"cleo", "another"}));
    transaction.put(make_lease(4, "/b", {"ann", "s"}));
  };

  expect_reads(writes, everything_named(), [](View& view) {
    EXPECT_EQ(view.last_lease_in("s", "/a").value().id, lease_id(2));
    EXPECT_EQ(view.last_lease({"ann", "s"}, "/a").value().id, lease_id(1));
    EXPECT_EQ(view.last_lease_in("another", "/a").value().id, lease_id(3));
    EXPECT_FALSE(view.last_lease_in("another", "/b"));
    EXPECT_FALSE(view.last_lease_in("none", "/a"));
  });
}

TEST_P(StoreContract, OwnersThatLookAlikeStayApart) {
  int number = 0;
  for (const Owner& owner : kSimilarOwners) {
    const Lease lease = make_lease(++number, "/a", owner);
    commit([&](Transaction& transaction) {
      transaction.put(lease);
      transaction.put(make_notice(number, lease));
      transaction.put(make_answer("key", {lease}));
    });
  }

  look([&](View& view) {
    number = 0;
    for (const Owner& owner : kSimilarOwners) {
      SCOPED_TRACE(testing::PrintToString(owner));
      ++number;
      EXPECT_EQ(view.lease_count(owner), 1u);
      EXPECT_EQ(view.last_lease(owner, "/a").value().id, lease_id(number));
      EXPECT_EQ(ids(view.notices(owner)), std::vector{notice_id(number)});
      EXPECT_EQ(view.answer(owner, "key").value().owner, owner);
      Filter filter;
      filter.agent_id = owner.agent_id;
      filter.session_id = owner.session_id;
      EXPECT_EQ(ids(view.leases(filter)), lease_ids({number}));
    }
    EXPECT_EQ(view.leases({}).size(), kSimilarOwners.size());
  });
}

TEST_P(StoreContract, AnOwnerAndAPathThatReadTheSameTogetherStayApart) {
  const auto writes = [](Transaction& transaction) {
    transaction.put(make_lease(1, "/b/c", {"a", ""}));
    transaction.put(make_lease(2, "/c", {"a", "b"}));
    transaction.put(make_lease(3, "/c", {"a/b", ""}));
    transaction.put(make_lease(4, "port:c", {"a", ""}));
    transaction.put(make_lease(5, "c", {"a", "port"}));
  };

  expect_reads(writes, everything_named(), [](View& view) {
    EXPECT_EQ(view.last_lease({"a", ""}, "/b/c").value().id, lease_id(1));
    EXPECT_EQ(view.last_lease({"a", "b"}, "/c").value().id, lease_id(2));
    EXPECT_EQ(view.last_lease({"a/b", ""}, "/c").value().id, lease_id(3));
    EXPECT_EQ(view.last_lease({"a", ""}, "port:c").value().id, lease_id(4));
    EXPECT_EQ(view.last_lease({"a", "port"}, "c").value().id, lease_id(5));
    EXPECT_FALSE(view.last_lease({"a", ""}, "/c"));
  });
}

struct FilterCase {
  std::optional<std::string> agent_id;
  std::optional<std::string> session_id;
  std::optional<std::string> pr_id;
  std::vector<int> found;
};

TEST_P(StoreContract, AllPartsOfAFilterMustMatch) {
  const auto writes = [](Transaction& transaction) {
    const auto put = [&](int number, const Owner& owner, const std::string& pr_id) {
      Lease lease = make_lease(number, "/lease/" + std::to_string(number), owner);
      lease.holder.pr_id = pr_id;
      transaction.put(lease);
      Ticket ticket = make_ticket(number, {"/ticket/" + std::to_string(number)}, owner);
      ticket.request.own().caller.holder.pr_id = pr_id;
      transaction.put(ticket);
    };
    put(1, {"ann", "s1"}, "7");
    put(2, {"ann", "s2"}, "7");
    put(3, {"bob", "s1"}, "7");
    put(4, {"bob", "s1"}, "8");
    put(5, {"bob", ""}, "");
    transaction.put(ended(make_lease(6, "/lease/6", {"ann", "s1"}), Status::released, ManualClock::kStart));
    transaction.put(ended(make_ticket(6, {"/lease/6"}, {"ann", "s1"}), Status::failed, ManualClock::kStart));
  };
  const std::vector<FilterCase> cases = {
      {{}, {}, {}, {1, 2, 3, 4, 5}},
      {"ann", {}, {}, {1, 2}},
      {{}, "s1", {}, {1, 3, 4}},
      {{}, {}, "7", {1, 2, 3}},
      {"ann", "s1", {}, {1}},
      {{}, "s1", "7", {1, 3}},
      {"bob", {}, "8", {4}},
      {"bob", "s1", "7", {3}},
      {"ann", "s1", "8", {}},
      {"an", {}, {}, {}},
      {"ANN", {}, {}, {}},
      {"%", {}, {}, {}},
      {{}, "", {}, {5}},
      {{}, {}, "", {5}},
      {"", {}, {}, {}},
  };

  expect_reads(writes, everything_named(), [&](View& view) {
    for (const FilterCase& expected : cases) {
      SCOPED_TRACE(testing::Message()
                   << expected.agent_id.value_or("any") << '/' << expected.session_id.value_or("any") << '/'
                   << expected.pr_id.value_or("any"));
      const Filter filter{expected.agent_id, expected.session_id, expected.pr_id};
      EXPECT_EQ(ids(view.leases(filter)), lease_ids(expected.found));
      EXPECT_EQ(ids(view.tickets(filter)), group_ids(expected.found));
    }
  });
}

TEST_P(StoreContract, TheLeaseCountIsThatOfActiveLeasesOfOneOwner) {
  const auto writes = [](Transaction& transaction) {
    for (int number = 1; number <= 4; ++number) {
      transaction.put(make_lease(number, "/" + std::to_string(number)));
    }
    transaction.put(ended(make_lease(4, "/4"), Status::released, ManualClock::kStart));
    Lease pending = make_lease(5, "/5");
    pending.status = Status::pending;
    transaction.put(pending);
    transaction.put(make_lease(6, "/6", bob()));
  };

  expect_reads(writes, everything_named(), [](View& view) {
    EXPECT_EQ(view.lease_count(ann()), 3u);
    EXPECT_EQ(view.lease_count(bob()), 1u);
    EXPECT_EQ(view.lease_count({"cyd", ""}), 0u);
  });
}

}  // namespace
}  // namespace leasehold
