// Each call of the interface that seed 003 lists, and those the issue adds.
#include <algorithm>
#include <set>
#include <thread>

#include "library/library_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

using Calls = Library;
INSTANTIATE_TEST_SUITE_P(Stores, Calls, testing::ValuesIn(available_stores()), store_of);

std::set<std::string> paths(const Result<std::vector<Lease>>& leases) {
  EXPECT_TRUE(leases);
  std::set<std::string> found;
  for (const Lease& lease : *leases) found.insert(lease.path);
  return found;
}

using Paths = std::set<std::string>;

TEST_P(Calls, LeasesAreFoundByFileAgentSessionPrAndAllTogether) {
  AcquireRequest of_pr = asking({"ann", "s1"}, {"/src/a", "/src/b"});
  of_pr.caller.holder.pr_id = "42";
  granted(client().acquire(of_pr));
  granted(client().acquire(asking({"ann", "s2"}, {"/c"})));
  granted(client().acquire(asking({"bob", "s1"}, {"/d"})));

  EXPECT_EQ(paths(client().leases({.paths = {"/src/a"}})), (Paths{"/src/a"}));
  EXPECT_EQ(paths(client().leases({.paths = {"/src"}})), (Paths{"/src/a", "/src/b"}));
  EXPECT_EQ(paths(client().leases({.agent_id = "ann"})), (Paths{"/src/a", "/src/b", "/c"}));
  EXPECT_EQ(paths(client().leases({.session_id = "s1"})), (Paths{"/src/a", "/src/b", "/d"}));
  EXPECT_EQ(paths(client().leases({.pr_id = "42"})), (Paths{"/src/a", "/src/b"}));
  EXPECT_EQ(paths(client().leases({.paths = {"/src"}, .agent_id = "bob"})), Paths{});
  EXPECT_EQ(paths(client().leases()), (Paths{"/src/a", "/src/b", "/c", "/d"}));
}

TEST_P(Calls, OnlyLiveLeasesAreListedAndNoWaiters) {
  acquire(ann(), "/a");
  AcquireRequest waits = asking(bob(), {"/a"});
  waits.wait = 10min;
  EXPECT_TRUE(client().acquire(waits));

  EXPECT_EQ(client().leases()->size(), 1U);
  EXPECT_EQ(client().board({.agent_id = bob().agent_id})->rows.size(), 1U) << "the board has waiters too";
  EXPECT_EQ(client().board({.agent_id = "cyd"})->rows.size(), 0U);

  clock.advance(5min);
  EXPECT_EQ(client().leases({.agent_id = ann().agent_id})->size(), 0U) << "over, though nobody recorded it";
}

TEST_P(Calls, AFileBelowAHeldDirectoryIsLockedAndOneAboveIsNot) {
  AcquireRequest request = asking(ann(), {"/src"});
  request.paths.front().subtree = true;
  granted(client().acquire(request));

  EXPECT_TRUE(*client().is_locked("/src/deep/a"));
  EXPECT_TRUE(*client().is_locked("/src"));
  EXPECT_FALSE(*client().is_locked("/"));
  EXPECT_FALSE(*client().is_locked("/srcs"));
  EXPECT_TRUE(*client().agent_has_lease(ann().agent_id, "/src/deep/a"));
  EXPECT_FALSE(*client().agent_has_lease(bob().agent_id, "/src/deep/a"));
  EXPECT_EQ(client().is_locked("relative").error().code, Code::invalid_path);
}

TEST_P(Calls, ForceReleaseTakesAllThatAnAgentHas) {
  granted(client().acquire(asking({"ann", "s1"}, {"/a"})));
  granted(client().acquire(asking({"ann", "s2"}, {"/b"})));
  granted(client().acquire(asking(bob(), {"/c"})));
  ForceReleaseRequest force = {.actor = "olga", .reason = "does not answer"};
  force.which.agent_id = "ann";

  const auto done = client().force_release(force);

  ASSERT_TRUE(done);
  EXPECT_EQ(done->outcomes.size(), 2U);
  EXPECT_EQ(paths(client().leases()), (Paths{"/c"}));
  EXPECT_EQ(client().acquire(asking({"ann", "s1"}, {"/d"}))->notices.size(), 1U);
  force.reason.clear();
  EXPECT_EQ(client().force_release(force).error().code, Code::invalid_argument);
}

TEST_P(Calls, OneBatchRenewsEverythingAnOwnerHas) {
  for (const char* path : {"/a", "/b", "/c"}) acquire(ann(), path);
  acquire(bob(), "/d");
  clock.advance(4min);
  RenewRequest all = {.caller = caller(ann())};
  all.which.all = true;

  const auto renewed = client().renew(all);

  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->outcomes.size(), 3U);
  clock.advance(4min);
  EXPECT_EQ(paths(client().leases()), (Paths{"/a", "/b", "/c"}));
  const auto history = client().history({});
  EXPECT_EQ(history->back().type, EventType::renewed);
  EXPECT_EQ(history->back().count, 3U);
}

TEST_P(Calls, UpgradeDowngradeAndTransferWorkInPlace) {
  AcquireRequest shared = asking(ann(), {"/a"});
  shared.mode = Mode::shared;
  const Lease lease = granted(client().acquire(shared));
  EXPECT_EQ(lease.mode, Mode::shared);

  EXPECT_EQ(granted(client().upgrade(asking(ann(), {"/a"}))).mode, Mode::exclusive);
  EXPECT_FALSE(client().downgrade({.caller = caller(ann()), .which = by_id(lease)})->outcomes.at(0).error);
  EXPECT_EQ(client().lease(lease.id)->mode, Mode::shared);

  TransferRequest handover = {.caller = caller(ann()), .which = by_id(lease), .note = "yours"};
  handover.to.owner = bob();
  EXPECT_FALSE(client().transfer(handover)->outcomes.at(0).error);
  EXPECT_TRUE(*client().agent_has_lease(bob().agent_id, "/a"));
  EXPECT_EQ(renew(ann(), lease).error->code, Code::transferred);
}

// test_cleanup_expired
TEST_P(Calls, CleanupRecordsWhatEndedAndForgetsWhatIsOld) {
  const Lease lease = acquire(ann(), "/a");
  acquire(ann(), "/b");
  clock.advance(5min);

  const auto first = client().cleanup();
  EXPECT_EQ(first->ended, 2U);
  EXPECT_EQ(first->forgotten, 0U);
  EXPECT_EQ(client().lease(lease.id)->status, Status::expired);
  EXPECT_EQ(client().cleanup()->ended, 0U) << "once";

  clock.advance(1h + 1s);
  EXPECT_GE(client().cleanup()->forgotten, 2U);
  EXPECT_EQ(client().lease(lease.id).error().code, Code::not_found);
  EXPECT_EQ(client().history({})->size(), 4U) << "history stays longer";

  clock.advance(24h * 31);
  EXPECT_EQ(client().cleanup()->forgotten, 4U);
  EXPECT_EQ(client().history({})->size(), 0U);
}

TEST_P(Calls, CleanupEndsTheLeasesOfTheDead) {
  AcquireRequest request = asking(ann(), {"/a"});
  request.caller.holder.process = process(1);
  granted(client().acquire(request));
  EXPECT_EQ(client().cleanup()->ended, 0U);

  probe.tell(process(1), Liveness::dead);

  EXPECT_EQ(client().cleanup()->ended, 1U);
}

TEST_P(Calls, EventsOfOthersAreReadInOrderPageByPage) {
  const auto other = open();
  const auto begin = client().latest_event();
  ASSERT_TRUE(begin);
  constexpr int kLeases = 1'100;
  for (int i = 0; i < kLeases; i += 100) {
    AcquireRequest request = asking(ann(), {});
    for (int j = i; j < i + 100; ++j) {
      WantedPath wanted;
      wanted.path = "/" + std::to_string(j);
      request.paths.push_back(std::move(wanted));
    }
    granted(other->acquire(request));
  }

  const auto first = client().events(*begin);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->size(), 1'000U);
  EXPECT_EQ(first->front().path, "/0");
  const auto second = client().events(first->back().sequence);
  EXPECT_EQ(second->size(), 100U);
  EXPECT_EQ(second->back().path, "/1099");
  EXPECT_EQ(client().events(second->back().sequence)->size(), 0U) << "does not wait unless asked to";
}

TEST_P(Calls, AReaderOfEventsIsWokenByWhatAnotherDoes) {
  const auto begin = client().latest_event();
  const auto other = open();
  Result<std::vector<Event>> seen;
  std::thread reader([&] { seen = client().events(*begin, 60s); });

  granted(other->acquire(asking(ann(), {"/a"})));
  reader.join();

  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->size(), 1U);
  EXPECT_EQ(seen->front().type, EventType::acquired);
  EXPECT_EQ(seen->front().path, "/a");
}

}  // namespace
}  // namespace leasehold
