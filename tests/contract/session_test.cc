// What is remembered of sessions: how often they asked, and what they got and did not give back.
#include "contract/store_contract.h"

namespace leasehold {
namespace {

Footprint session_named() {
  Footprint footprint = nothing_named();
  footprint.sessions = {"s1"};
  return footprint;
}

RateWindow window(std::size_t calls, Duration left) {
  return {.session_id = "s1", .calls = calls, .ends_at = ManualClock::kStart + left};
}

SessionPath path(const std::string& name, const std::string& session_id = "s1") {
  return {.session_id = session_id, .path = name};
}

using namespace std::chrono_literals;

TEST_P(StoreContract, ARateWindowIsFoundByItsSessionUntilItEnds) {
  const RateWindow first = window(1, 1min);
  const RateWindow second = window(7, 30s);

  const auto writes = [&](Transaction& transaction) {
    transaction.put(first);
    transaction.put(second);
  };

  expect_reads(writes, session_named(), [&](View& view) {
    EXPECT_EQ(view.rate_window("s1"), second);
    EXPECT_FALSE(view.rate_window("s2"));
  });
  look_in("another", [&](View& view) { EXPECT_FALSE(view.rate_window("s1")); });
  clock.advance(30s);
  look([&](View& view) { EXPECT_FALSE(view.rate_window("s1")); });
  commit([](Transaction& transaction) { EXPECT_EQ(transaction.forget({}, {}, 10), 0U); });
}

TEST_P(StoreContract, CallsOfOneSessionAreCountedOneByOne) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 5;

  run_threads(*this, kThreads, [&](int, Store& own) {
    for (int i = 0; i < kCalls; ++i) {
      const auto done =
          transact_patiently(own, session_named(), [&](Transaction& transaction) -> Result<void> {
            RateWindow counted = transaction.rate_window("s1").value_or(window(0, 1min));
            ++counted.calls;
            transaction.put(counted);
            return {};
          });
      EXPECT_TRUE(done);
    }
  });

  look([&](View& view) { EXPECT_EQ(view.rate_window("s1"), window(kThreads * kCalls, 1min)); });
}

TEST_P(StoreContract, EveryFieldOfASessionsPathSurvives) {
  SessionPath plain = path("/a");
  SessionPath filled = path("/" + awkward_text());
  filled.mode = Mode::shared;
  filled.subtree = true;
  filled.drop_at = ManualClock::kWallStart + 1h + 1us;
  for (const SessionPath& one : {plain, filled}) {
    const auto writes = [&](Transaction& transaction) { transaction.put(one); };

    expect_reads(writes, session_named(), [&](View& view) {
      EXPECT_EQ(view.session_paths("s1").paths, std::vector{one});
      EXPECT_TRUE(view.session_paths("s1").invalid.empty());
    });
    commit([&](Transaction& transaction) { transaction.erase(one); });
  }
}

TEST_P(StoreContract, PathsOfSessionsAreKnownBySessionPathAndSubtree) {
  const SessionPath file = path("/a");
  SessionPath folder = path("/a");
  folder.subtree = true;
  SessionPath changed = folder;
  changed.mode = Mode::shared;

  const auto writes = [&](Transaction& transaction) {
    transaction.put(folder);
    transaction.put(file);
    transaction.put(path("/b"));
    transaction.put(path("/c", "s2"));
    transaction.put(changed);
    transaction.erase(path("/b"));
    transaction.erase(path("/never"));
  };

  expect_reads(writes, session_named(), [&](View& view) {
    std::vector<SessionPath> found = view.session_paths("s1").paths;
    EXPECT_EQ(found, (std::vector{file, changed}));
    EXPECT_EQ(view.session_paths("s2").paths, std::vector{path("/c", "s2")});
    EXPECT_TRUE(view.session_paths("s3").paths.empty());
  });
  look_in("another", [&](View& view) { EXPECT_TRUE(view.session_paths("s1").paths.empty()); });
}

TEST_P(StoreContract, ASessionsPathIsGoneAfterItsTime) {
  SessionPath brief = path("/a");
  brief.drop_at = ManualClock::kWallStart + 1h;
  commit([&](Transaction& transaction) {
    transaction.put(brief);
    transaction.put(path("/b"));
  });

  clock.advance(1h);
  look([&](View& view) { EXPECT_EQ(view.session_paths("s1").paths, std::vector{path("/b")}); });
  commit([](Transaction& transaction) { transaction.forget({}, {}, 10); });
  look([&](View& view) { EXPECT_EQ(view.session_paths("s1").paths, std::vector{path("/b")}); });
}

TEST_P(StoreContract, WhatAnAbortedBodyRememberedOfASessionIsForgotten) {
  commit([&](Transaction& transaction) {
    transaction.put(path("/a"));
    transaction.put(window(1, 1min));
  });

  abort([&](Transaction& transaction) {
    transaction.put(path("/b"));
    transaction.erase(path("/a"));
    transaction.put(window(2, 1min));
  });

  look([&](View& view) {
    EXPECT_EQ(view.session_paths("s1").paths, std::vector{path("/a")});
    EXPECT_EQ(view.rate_window("s1"), window(1, 1min));
  });
}

TEST_P(StoreContract, AHealthyStoreHasNoDefects) {
  commit([&](Transaction& transaction) {
    transaction.put(make_lease(1, "/a"));
    transaction.put(make_lease(2, "/b", bob()));
    transaction.put(make_ticket(3, {"/a"}));
    transaction.put(make_notice(4, make_lease(1, "/a")));
    transaction.put(make_answer("key", {make_lease(1, "/a")}));
    transaction.put(make_contention(bob(), "/a", make_lease(1, "/a")));
    transaction.put(path("/a"));
    transaction.put(window(1, 1min));
    transaction.append(make_event(make_lease(1, "/a")));
  });

  for (const bool repair : {false, true}) {
    const auto defects = store->examine(kWorkspace, repair);
    ASSERT_TRUE(defects);
    for (const Defect& defect : *defects) ADD_FAILURE() << defect.where << ": " << defect.what;
  }
}

}  // namespace
}  // namespace leasehold
