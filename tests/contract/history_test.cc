// History: what happened, in order.
#include "contract/store_contract.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kWall = ManualClock::kWallStart;

// An event that is told from others by its reason.
Event event_about(const std::string& reason, const Lease& lease = make_lease(1, "/a")) {
  Event event = make_event(lease);
  event.reason = reason;
  return event;
}

std::vector<std::string> reasons(const std::vector<Event>& events) {
  std::vector<std::string> found;
  for (const Event& event : events) found.push_back(event.reason);
  return found;
}

using Reasons = std::vector<std::string>;

TEST_P(StoreContract, HistoryComesOldestFirstAndItsSequenceRises) {
  for (const char* reason : {"1", "2"}) {
    commit([&](Transaction& transaction) { transaction.append(event_about(reason)); });
  }

  const auto writes = [](Transaction& transaction) {
    transaction.append(event_about("3"));
    transaction.append(event_about("4"));
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    const auto events = view.history({});
    ASSERT_EQ(reasons(events), (Reasons{"1", "2", "3", "4"}));
    EXPECT_GT(events[0].sequence, 0u);
    for (std::size_t i = 1; i < events.size(); ++i) EXPECT_GT(events[i].sequence, events[i - 1].sequence);
  });
}

TEST_P(StoreContract, TheStoreGivesTheSequenceWhateverTheEventSays) {
  Event event = event_about("1");
  event.sequence = 1'000'000'000'000;
  commit([&](Transaction& transaction) {
    transaction.append(event);
    event.sequence = 1;
    transaction.append(event);
  });

  look([](View& view) {
    const auto events = view.history({});
    ASSERT_EQ(events.size(), 2u);
    EXPECT_GT(events[1].sequence, events[0].sequence);
    EXPECT_NE(events[0].sequence, 1'000'000'000'000u);
  });
}

TEST_P(StoreContract, HistoryIsFilteredByPathAgentLeaseAndTime) {
  const auto writes = [](Transaction& transaction) {
    Event event = event_about("1", make_lease(1, "/a"));
    event.wall = kWall;
    transaction.append(event);
    event = event_about("2", make_lease(2, "/a", bob()));
    event.wall = kWall + 1s;
    transaction.append(event);
    event = event_about("3", make_lease(3, "/a/b"));
    event.wall = kWall + 2s;
    transaction.append(event);
    event = event_about("4", make_lease(1, "/a", {ann().agent_id, "another-session"}));
    event.wall = kWall + 3s;
    transaction.append(event);
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    const auto found = [&](const std::function<void(HistoryQuery&)>& set) {
      HistoryQuery query;
      set(query);
      return reasons(view.history(query));
    };
    EXPECT_EQ(found([](auto& query) { query.path = "/a"; }), (Reasons{"1", "2", "4"}));
    EXPECT_EQ(found([](auto& query) { query.path = "/a/b"; }), (Reasons{"3"}));
    EXPECT_EQ(found([](auto& query) { query.path = "/"; }), Reasons{});
    EXPECT_EQ(found([](auto& query) { query.path = ""; }), Reasons{});
    EXPECT_EQ(found([](auto& query) { query.agent_id = ann().agent_id; }), (Reasons{"1", "3", "4"}));
    EXPECT_EQ(found([](auto& query) { query.lease_id = lease_id(1); }), (Reasons{"1", "4"}));
    EXPECT_EQ(found([](auto& query) { query.since = kWall + 2s; }), (Reasons{"3", "4"}));
    EXPECT_EQ(found([](auto& query) {
                query.path = "/a";
                query.agent_id = ann().agent_id;
                query.lease_id = lease_id(1);
                query.since = kWall + 1s;
              }),
              (Reasons{"4"}));
    EXPECT_EQ(found([](auto& query) {
                query.path = "/a/b";
                query.agent_id = bob().agent_id;
              }),
              Reasons{});
  });
}

TEST_P(StoreContract, ALimitTakesTheNewestThatMatchOldestFirst) {
  const auto writes = [](Transaction& transaction) {
    for (const char* reason : {"1", "2", "3", "4", "5", "6"}) {
      transaction.append(event_about(reason, make_lease(1, reason[0] % 2 == 0 ? "/even" : "/odd")));
    }
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    HistoryQuery query;
    query.limit = 2;
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"5", "6"}));
    query.path = "/odd";
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"3", "5"}));
    query.limit = 100;
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"1", "3", "5"}));
    query.limit = 0;
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"1", "3", "5"}));
  });
}

TEST_P(StoreContract, ALimitTakesTheOldestThatMatchIfAskedSo) {
  const auto writes = [](Transaction& transaction) {
    for (const char* reason : {"1", "2", "3", "4", "5", "6"}) {
      transaction.append(event_about(reason, make_lease(1, reason[0] % 2 == 0 ? "/even" : "/odd")));
    }
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    HistoryQuery query;
    query.oldest = true;
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"1", "2", "3", "4", "5", "6"}));
    query.limit = 2;
    const auto first = view.history(query);
    EXPECT_EQ(reasons(first), (Reasons{"1", "2"}));
    query.after = first.back().sequence;
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"3", "4"}));
    query.path = "/even";
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"4", "6"}));
  });
}

TEST_P(StoreContract, AReaderGoesOnAfterTheLastEventItSaw) {
  for (const char* reason : {"1", "2", "3", "4"}) {
    commit([&](Transaction& transaction) { transaction.append(event_about(reason)); });
  }

  look([](View& view) {
    const auto all = view.history({});
    ASSERT_EQ(all.size(), 4u);
    HistoryQuery query;
    query.after = all[0].sequence;
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"2", "3", "4"}));
    query.limit = 1;
    EXPECT_EQ(reasons(view.history(query)), (Reasons{"4"}));
    query.after = all[3].sequence;
    EXPECT_EQ(reasons(view.history(query)), Reasons{});
  });
}

TEST_P(StoreContract, AReaderGoesOnInTheMiddleOfACommit) {
  constexpr std::size_t kMany = 20;
  constexpr std::size_t kPage = 3;
  commit([&](Transaction& transaction) {
    for (std::size_t i = 0; i < kMany; ++i)
      transaction.append(make_event(make_lease(static_cast<int>(i), "/a")));
  });

  look([&](View& view) {
    const std::vector<Event> events = view.history({});
    ASSERT_EQ(events.size(), kMany);
    for (std::size_t i = 0; i < kMany; ++i) {
      EXPECT_EQ(events[i].lease_id, lease_id(static_cast<int>(i)));
      const auto next = events.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      const auto page_end = next + static_cast<std::ptrdiff_t>(std::min(kPage, kMany - i - 1));
      EXPECT_EQ(view.history({.after = events[i].sequence}), std::vector(next, events.end()));
      EXPECT_EQ(view.history({.after = events[i].sequence, .limit = kPage, .oldest = true}),
                std::vector(next, page_end));
    }
  });
}

TEST_P(StoreContract, HistoryKeepsItsOrderWhenTheWallStepsBack) {
  const auto append = [&](const char* reason) {
    commit([&](Transaction& transaction) {
      Event event = event_about(reason);
      event.wall = transaction.wall();
      transaction.append(event);
    });
  };

  append("1");
  clock.step_wall(-1h);
  append("2");
  clock.step_wall(+2h);
  append("3");

  look([](View& view) { EXPECT_EQ(reasons(view.history({})), (Reasons{"1", "2", "3"})); });
}

TEST_P(StoreContract, ABatchWithoutALeaseOrAPathIsHistoryToo) {
  const auto writes = [](Transaction& transaction) {
    Event event = event_about("batch");
    event.type = EventType::renewed;
    event.lease_id = {};
    event.path = "";
    event.count = 12;
    transaction.append(event);
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    HistoryQuery query;
    query.agent_id = ann().agent_id;
    const auto events = view.history(query);
    ASSERT_EQ(reasons(events), Reasons{"batch"});
    EXPECT_EQ(events[0].count, 12u);
    EXPECT_EQ(events[0].lease_id, LeaseId{});
  });
}

}  // namespace
}  // namespace leasehold
