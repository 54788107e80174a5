#include "keeper/keeper_state.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "keeper/story.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

constexpr LocalDuration kGood = 5min - 6010ms;  // A lease of five minutes, less the margin.

Lease ttl_of(Duration ttl, Lease lease) {
  lease.ttl = ttl;
  return lease;
}

Lease ended(Lease lease, EndCause cause) {
  lease.status = cause == EndCause::expired ? Status::expired : Status::released;
  lease.ended_by = cause;
  return lease;
}

Notice notice_of(const Lease& lease, EndCause cause) {
  Notice notice = make_notice(1, lease);
  notice.cause = cause;
  return notice;
}

// The store cannot be reached until nothing is valid any more; that may take an hour.
void sit_out_an_outage(Story& story) {
  for (int tries = 0; tries < 100 && story.state.next_expiry() != LocalTime::max(); ++tries) {
    story.wait();
    ASSERT_TRUE(story.fail_renewal());
  }
  story.wait();
}

// --- Renewal

TEST(Renewing, HappensAtTwoFifthsInOneCallForAll) {
  Story story;
  story.add({make_lease(1, "/a"), make_lease(2, "/b")});
  story.add({make_lease(3, "/c")});
  EXPECT_EQ(story.next<Wait>()->until, story.now + 2min);

  story.now += 2min - 1ns;
  EXPECT_FALSE(story.next<RenewCall>());
  story.now += 1ns;
  const auto call = story.next<RenewCall>();

  ASSERT_TRUE(call);
  EXPECT_TRUE(call->request.which.all);
  EXPECT_TRUE(call->request.which.ids.empty());
  EXPECT_EQ(call->request.caller, Story::as_ann());
  EXPECT_EQ(call->request.ttl, std::nullopt);
  EXPECT_EQ(call->ids, (std::vector{lease_id(1), lease_id(2), lease_id(3)}));
}

TEST(Renewing, GoesOnForEver) {
  Story story;
  story.add({make_lease(1, "/a"), make_lease(2, "/b")});

  for (int round = 0; round < 1000; ++round) {
    story.wait();
    ASSERT_TRUE(story.state.is_valid(lease_id(1), story.now));
    ASSERT_TRUE(story.renew());
    ASSERT_EQ(story.told(), Words{"renewed"});
    ASSERT_EQ(story.events.front().count, 2U);
  }

  EXPECT_EQ(story.now, Story::kStart + 1000 * 2min);
}

TEST(Renewing, IsForNobodyIfNothingIsKept) {
  Story story;
  EXPECT_EQ(story.next<Wait>()->until, LocalTime::max());

  story.add({make_lease(1, "/a")});
  story.state.remove({lease_id(1)});

  EXPECT_EQ(story.next<Wait>()->until, LocalTime::max());
}

TEST(Renewing, LetsLongLeasesJoinOnlyFromHalfOfTheirWay) {
  Story story;
  story.add({ttl_of(5min, make_lease(1, "/short"))});
  story.add({ttl_of(1h, make_lease(2, "/long"))});
  std::vector<std::size_t> sizes;

  for (int round = 0; round < 12; ++round) {
    story.wait();
    const auto call = story.next<RenewCall>();
    ASSERT_TRUE(call);
    EXPECT_EQ(call->request.which.all, call->ids.size() == 2);
    sizes.push_back(call->ids.size());
    ASSERT_TRUE(story.renew());
  }

  // Its own time is after 24 min, half of the way 12 min: with every sixth renewal of the short one.
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2}));
}

TEST(Renewing, NamesLeasesOneByOneOnceTheOwnerHasOthers) {
  Story story;
  story.add({make_lease(1, "/a")});
  const Lease other = make_lease(9, "/other");
  const auto renew_with_other = [&] {
    const auto call = story.next<RenewCall>();
    ASSERT_TRUE(call && call->request.which.all);
    Outcomes answer = story.renewed(*call);
    answer.outcomes.push_back({.path = other.path, .lease = story.fresh(other)});
    story.state.answered(*call, answer, {story.now, story.now});
  };

  story.wait();
  renew_with_other();  // Perhaps it is just being added.
  story.wait();
  renew_with_other();  // No.
  story.wait();

  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  EXPECT_FALSE(call->request.which.all);
  EXPECT_EQ(call->request.which.ids, std::vector{lease_id(1)});
  EXPECT_FALSE(story.state.is_valid(lease_id(9), story.now));
}

TEST(Renewing, SplitsWhatOneCallMayNotName) {
  Story story;
  std::vector<Lease> leases;
  for (int i = 0; i < 100; ++i) leases.push_back(make_lease(i, "/" + std::to_string(i)));
  story.add(leases);
  story.wait();

  ASSERT_TRUE(story.fail_renewal(Code::limit_exceeded));  // All at once: no.
  ASSERT_TRUE(story.fail_renewal(Code::limit_exceeded));  // By name: 100 are too many,
  ASSERT_TRUE(story.fail_renewal(Code::limit_exceeded));  // and so are 50.
  std::set<LeaseId> renewed;
  while (const auto call = story.next<RenewCall>()) {
    EXPECT_LE(call->ids.size(), 25U);
    renewed.insert(call->ids.begin(), call->ids.end());
    ASSERT_TRUE(story.renew());
  }

  EXPECT_EQ(renewed.size(), 100U);
  EXPECT_EQ(story.told(), (Words{"renewed", "renewed", "renewed", "renewed"}));
}

TEST(Renewing, OfOneLeaseThatIsOverTheLimitIsAMiss) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();

  ASSERT_TRUE(story.fail_renewal(Code::limit_exceeded));
  ASSERT_TRUE(story.fail_renewal(Code::limit_exceeded));

  EXPECT_EQ(story.told(), Words{"missed"});
  EXPECT_TRUE(story.next<Wait>());
}

// --- Validity

TEST(Validity, CountsFromBeforeTheRequestWasSent) {
  Story story;
  const LocalTime asked_at = story.now;
  Granted granted = {.leases = {story.fresh(make_lease(1, "/a"))}};
  story.now += 20s;  // The answer was slow.

  story.state.add(Story::request_for(make_lease(1, "/a")), granted, asked_at, story.now);

  EXPECT_TRUE(story.state.is_valid(lease_id(1), asked_at + kGood - 1ns));
  EXPECT_FALSE(story.state.is_valid(lease_id(1), asked_at + kGood));
  EXPECT_EQ(story.state.left(lease_id(1), story.now), kGood - 20s);
  EXPECT_EQ(story.state.left(lease_id(1), asked_at + 1h), 0s);
}

TEST(Validity, OfARenewalCountsFromBeforeItWasSent) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  const LocalTime asked_at = story.now;
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  story.now += 30s;
  const Outcomes answer = story.renewed(*call);  // The store decided late,
  story.now += 30s;                              // and its answer came later still.

  story.state.answered(*call, answer, {asked_at, story.now});

  EXPECT_TRUE(story.state.is_valid(lease_id(1), asked_at + kGood - 1ns));
  EXPECT_FALSE(story.state.is_valid(lease_id(1), asked_at + kGood));
  EXPECT_EQ(story.next<Wait>()->until, asked_at + 2min);
}

TEST(Validity, EndsWithoutAnybodyNoticing) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  ASSERT_TRUE(story.next<RenewCall>());  // And its answer never comes.

  EXPECT_TRUE(story.state.is_valid(lease_id(1), Story::kStart + kGood - 1ns));
  EXPECT_FALSE(story.state.is_valid(lease_id(1), Story::kStart + kGood));
  EXPECT_EQ(story.state.use("/a", Mode::exclusive, Story::kStart + kGood).error().code, Code::lost);
}

TEST(Validity, IsNotGivenByAnAnswerThatComesTooLate) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  const auto call = story.next<RenewCall>();
  const Exchange times = {story.now, story.now + 10min};
  const Outcomes answer = story.renewed(*call);
  story.now += 10min;
  story.state.expire(story.now);

  story.state.answered(*call, answer, times);

  EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
  EXPECT_EQ(story.told(), (Words{"expired", "renewed"}));
  // It may well be alive, so it is asked for again soon.
  story.wait();
  EXPECT_LE(story.now, times.answered_at + 5s);
  ASSERT_TRUE(story.renew());
  EXPECT_TRUE(story.state.is_valid(lease_id(1), story.now));
  EXPECT_EQ(story.told(), (Words{"recovered", "renewed"}));
}

TEST(Validity, EndsWithSuspendAndTheStoreDecidesOnTheWayBack) {
  Story story;
  story.add({make_lease(1, "/a")});

  story.now += 8h;

  EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
  ASSERT_TRUE(story.next<RenewCall>());
  EXPECT_EQ(story.told(), Words{"expired"});
  ASSERT_TRUE(story.refuse_renewal(Code::not_found));
  EXPECT_TRUE(story.next<AcquireCall>());
}

TEST(Validity, OfAGrantOfUnknownAgeBeginsWithARenewal) {
  for (const bool replayed : {false, true}) {
    Story story;
    const Granted granted = {.leases = {story.fresh(make_lease(1, "/a"))}, .replayed = replayed};
    const auto asked_at = replayed ? std::optional(story.now) : std::nullopt;

    story.state.add(Story::request_for(make_lease(1, "/a")), granted, asked_at, story.now);

    EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
    ASSERT_TRUE(story.renew());
    EXPECT_TRUE(story.state.is_valid(lease_id(1), story.now));
    EXPECT_EQ(story.told(), Words{"renewed"});
  }
}

// Ann held it for two minutes already, and was granted it again without getting more time.
TEST(Validity, OfALeaseThatIsHalfGoneIsRenewedTheSooner) {
  Story story;
  Lease lease = story.fresh(make_lease(1, "/a"));
  story.now += 90s;
  lease.last_heartbeat_at = story.store_now();

  story.state.add(Story::request_for(lease), {.leases = {lease}}, story.now, story.now);

  EXPECT_EQ(story.state.left(lease_id(1), story.now), kGood - 90s);
  EXPECT_EQ(story.next<Wait>()->until, story.now + 30s);
}

// Two calls at once: the keeper's renewal, and its owner's acquire. Nobody knows which the store saw first.
TEST(Validity, OfOverlappingAnswersIsTheMoreCautiousOne) {
  for (const bool renewal_says_so : {false, true}) {
    Story story;
    story.add({make_lease(1, "/a")});
    story.wait();
    const auto call = story.next<RenewCall>();
    ASSERT_TRUE(call);
    Lease recalled = make_lease(1, "/a");
    recalled.recalled_at = story.store_now() + 60s;
    const Lease free = story.fresh(make_lease(1, "/a"));
    const Lease capped = story.fresh(recalled);
    const LocalTime asked_at = story.now;
    story.now += 1s;

    story.state.add(Story::request_for(free), {.leases = {renewal_says_so ? free : capped}}, asked_at,
                    story.now);
    story.state.answered(*call, Outcomes{.outcomes = {{.lease = renewal_says_so ? capped : free}}},
                         {asked_at, story.now});

    EXPECT_EQ(story.state.left(lease_id(1), asked_at), 60s - 6010ms);
  }
}

TEST(Validity, OfOverlappingAnswersIsTheLongerOneIfNothingSpeaksAgainstIt) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  const LocalTime asked_at = story.now;
  const Outcomes answer = story.renewed(*call);
  story.now += 40s;

  story.add({make_lease(1, "/a")});
  story.state.answered(*call, answer, {asked_at, story.now});

  EXPECT_EQ(story.state.left(lease_id(1), story.now), kGood);
}

TEST(Validity, KeepsTheTokenOfAnUpgradeWhenAnOlderAnswerArrives) {
  Story story;
  Lease shared = make_lease(1, "/a");
  shared.mode = Mode::shared;
  story.add({shared});
  story.wait();
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  const Outcomes answer = story.renewed(*call);
  Lease upgraded = shared;
  upgraded.mode = Mode::exclusive;
  upgraded.token.value += 10;

  story.add({upgraded});
  story.state.answered(*call, answer, {story.now - 1s, story.now});

  EXPECT_EQ(story.state.use("/a", Mode::exclusive, story.now), upgraded.token);
}

TEST(Using, FindsTheLeaseThatCoversThePath) {
  Story story;
  Lease folder = make_lease(1, "/src");
  folder.subtree = true;
  folder.token = {1};
  Lease file = make_lease(2, "/docs/a");
  file.token = {2};
  Lease shared = make_lease(3, "/shared");
  shared.mode = Mode::shared;
  shared.token = {3};
  Lease port = make_lease(4, "port:3000");
  port.token = {4};
  story.add({folder, file, shared, port});
  const auto use = [&](const char* path, Mode mode = Mode::exclusive) {
    return story.state.use(path, mode, story.now);
  };

  EXPECT_EQ(use("/src/deep/b")->value, 1U);
  EXPECT_EQ(use("/src")->value, 1U);
  EXPECT_EQ(use("/docs/a")->value, 2U);
  EXPECT_EQ(use("/docs/a", Mode::shared)->value, 2U);
  EXPECT_EQ(use("/shared", Mode::shared)->value, 3U);
  EXPECT_EQ(use("port:3000")->value, 4U);
  EXPECT_EQ(use("/shared").error().code, Code::not_found);
  EXPECT_EQ(use("/docs").error().code, Code::not_found);
  EXPECT_EQ(use("/docs/a/b").error().code, Code::not_found);
  EXPECT_EQ(use("/srcs").error().code, Code::not_found);
  story.now += kGood;
  EXPECT_EQ(use("/src/deep/b").error().code, Code::lost);
}

// --- Outages

TEST(Outage, IsTriedManyTimesBeforeALeaseIsOver) {
  for (const Duration ttl : {Duration(10s), Duration(5min), Duration(1h)}) {
    for (const std::uint64_t chance : {0, 500, 1000}) {
      Story story;
      story.random.value = chance;
      story.add({ttl_of(ttl, make_lease(1, "/a"))});
      int tries = 0;
      LocalTime last = story.now;
      for (story.wait(); story.state.is_valid(lease_id(1), story.now); story.wait(), ++tries) {
        if (tries > 0) {
          EXPECT_LE(story.now - last, std::min<LocalDuration>(ttl / 10, 30s));
        }
        last = story.now;
        ASSERT_TRUE(story.fail_renewal());
      }

      EXPECT_GE(tries, 6) << ttl.count() << "ms, chance " << chance;
      EXPECT_LE(tries, 200) << ttl.count() << "ms, chance " << chance;
      const Words told = story.told();
      EXPECT_EQ(std::ranges::count(told, "missed"), tries);
      EXPECT_EQ(told.back(), "expired");
      EXPECT_EQ(story.events.back().lease->id, lease_id(1));
      EXPECT_EQ(story.events.back().error->code, Code::unavailable);
    }
  }
}

TEST(Outage, EndsAsIfItHadNotBeenIfItIsShort) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  ASSERT_TRUE(story.fail_renewal());
  ASSERT_TRUE(story.fail_renewal() || story.next<Wait>());
  story.wait();

  ASSERT_TRUE(story.renew());

  EXPECT_EQ(story.state.left(lease_id(1), story.now), kGood);
  EXPECT_EQ(story.told(), (Words{"missed", "renewed"}));
  EXPECT_EQ(story.next<Wait>()->until, story.now + 2min);
}

TEST(Outage, LosesNothingIfTheStoreStillHasTheLease) {
  Story story;
  story.add({make_lease(1, "/a")});
  sit_out_an_outage(story);
  EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
  story.told();

  ASSERT_TRUE(story.renew());

  EXPECT_TRUE(story.state.is_valid(lease_id(1), story.now));
  ASSERT_EQ(story.told(), (Words{"recovered", "renewed"}));
  EXPECT_EQ(story.events.front().lease->id, lease_id(1));
  EXPECT_EQ(story.events.front().previous, lease_id(1));
}

TEST(Outage, IsFollowedByNothingForWhoBeginsAnew) {
  Story story(false);
  story.add({make_lease(1, "/src")});
  sit_out_an_outage(story);
  story.told();

  ASSERT_TRUE(story.refuse_renewal(Code::lost, {notice_of(make_lease(1, "/src"), EndCause::expired)}));

  EXPECT_FALSE(story.next<AcquireCall>());
  EXPECT_TRUE(story.state.kept().empty());
}

TEST(Outage, IsFollowedByTheSameRequestAgain) {
  Story story;
  Lease folder = make_lease(1, "/src");
  folder.subtree = true;
  Lease test = make_lease(2, "/test");
  test.requested = false;
  test.paired_with = {"/src"};
  test.rule = "tests";
  story.add({folder, test});
  sit_out_an_outage(story);
  story.told();
  const Notice ran_out = notice_of(folder, EndCause::expired);

  ASSERT_TRUE(story.refuse_renewal(Code::lost, {ran_out, notice_of(test, EndCause::expired)}));
  const auto call = story.next<AcquireCall>();

  ASSERT_TRUE(call);
  ASSERT_EQ(story.told(), (Words{"noticed", "noticed"}));
  EXPECT_EQ(story.events.front().notice, ran_out);
  AcquireRequest expected = Story::request_for(folder);
  expected.wait.reset();
  expected.idempotency_key.clear();
  expected.paths.push_back({.path = "/test", .requested = false, .paired_with = {"/src"}, .rule = "tests"});
  EXPECT_EQ(call->request, expected);
  EXPECT_EQ(call->ids, (std::vector{lease_id(1), lease_id(2)}));

  Lease new_folder = folder;
  new_folder.id = lease_id(11);
  new_folder.token.value += 5;
  Lease new_test = test;
  new_test.id = lease_id(12);
  story.state.answered(*call,
                       AcquireAnswer{Granted{.leases = {story.fresh(new_folder), story.fresh(new_test)}}, {}},
                       {story.now, story.now});

  ASSERT_EQ(story.told(), (Words{"recovered", "recovered"}));
  EXPECT_EQ(story.events.front().previous, lease_id(1));
  EXPECT_EQ(story.events.front().lease->id, lease_id(11));
  EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
  EXPECT_TRUE(story.state.is_valid(lease_id(11), story.now));
  EXPECT_TRUE(story.state.is_valid(lease_id(12), story.now));
  EXPECT_EQ(story.state.use("/src/a", Mode::exclusive, story.now), new_folder.token);
  EXPECT_EQ(story.next<Wait>()->until, story.now + 2min);
}

TEST(Outage, IsReportedForWhatSomebodyElseHasNow) {
  Story story;
  story.add({make_lease(1, "/a"), make_lease(2, "/b")});
  sit_out_an_outage(story);
  ASSERT_TRUE(story.refuse_renewal(Code::not_found));
  story.told();
  const auto call = story.next<AcquireCall>();
  ASSERT_TRUE(call);
  Blocked blocked = {.path = "/a", .held_path = "/a"};
  blocked.holder.owner = bob();

  story.state.answered(*call, AcquireAnswer{Refused{Code::busy, "bob has it", {blocked}}, {}},
                       {story.now, story.now});

  ASSERT_EQ(story.told(), (Words{"could_not_recover", "could_not_recover"}));
  for (const KeeperEvent& event : story.events) {
    EXPECT_EQ(event.error, (Error{Code::busy, "bob has it"}));
    ASSERT_EQ(event.blocked.size(), 1U);
    EXPECT_EQ(event.blocked.front().holder.owner, bob());
  }
  EXPECT_EQ(story.events[0].lease->path, "/a");
  EXPECT_EQ(story.events[1].lease->path, "/b");
  EXPECT_TRUE(story.state.kept().empty());
  EXPECT_EQ(story.next<Wait>()->until, LocalTime::max());
}

TEST(Outage, MayGoOnWhileThingsAreAcquiredAgain) {
  Story story;
  story.add({make_lease(1, "/a")});
  sit_out_an_outage(story);
  ASSERT_TRUE(story.refuse_renewal(Code::not_found));
  story.told();
  const auto call = story.next<AcquireCall>();
  ASSERT_TRUE(call);

  story.state.answered(*call, fail(Code::outcome_unknown, "?"), {story.now, story.now});
  EXPECT_TRUE(story.next<Wait>());
  story.wait();

  EXPECT_TRUE(story.next<AcquireCall>());
  EXPECT_EQ(story.told(), Words{"missed"});
}

TEST(Outage, IsNotOverWhenTheStoreIsTooBusyToGrant) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  ASSERT_TRUE(story.refuse_renewal(Code::not_found));
  const auto call = story.next<AcquireCall>();
  ASSERT_TRUE(call);

  story.state.answered(*call, AcquireAnswer{Refused{Code::rate_limited, "slowly", {}}, {}},
                       {story.now, story.now});

  EXPECT_EQ(story.told(), (Words{"lost", "missed"}));
  story.wait();
  EXPECT_TRUE(story.next<AcquireCall>());
}

TEST(Outage, IsNotTriedForEverAgainstALimit) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  ASSERT_TRUE(story.refuse_renewal(Code::not_found));
  const auto call = story.next<AcquireCall>();
  ASSERT_TRUE(call);

  story.state.answered(*call, fail(Code::limit_exceeded, "too many"), {story.now, story.now});

  EXPECT_EQ(story.told(), (Words{"lost", "could_not_recover"}));
  EXPECT_TRUE(story.state.kept().empty());
}

TEST(Outage, GetsGrantsBackOneByOneAndModesApart) {
  Story story;
  Lease shared = make_lease(3, "/c");
  shared.mode = Mode::shared;
  story.add({make_lease(1, "/a"), make_lease(2, "/b"), shared});
  story.add({make_lease(4, "/d")});
  story.wait();
  ASSERT_TRUE(story.refuse_renewal(Code::not_found));

  std::vector<std::vector<LeaseId>> calls;
  while (const auto call = story.next<AcquireCall>()) {
    calls.push_back(call->ids);
    story.state.answered(*call, AcquireAnswer{Refused{Code::busy, "", {}}, {}}, {story.now, story.now});
  }

  EXPECT_EQ(calls,
            (std::vector<std::vector<LeaseId>>{{lease_id(1), lease_id(2)}, {lease_id(3)}, {lease_id(4)}}));
}

TEST(Outage, IsOverForALeaseItsOwnerGotBackItself) {
  Story story;
  story.add({make_lease(1, "/a")});
  sit_out_an_outage(story);
  story.told();

  story.add({make_lease(2, "/a")});

  EXPECT_EQ(story.state.kept().size(), 1U);
  EXPECT_TRUE(story.state.is_valid(lease_id(2), story.now));
  EXPECT_TRUE(story.told().empty());
}

// It had it twice, without knowing that the first was over. Acquiring that again would bring the second,
// which its owner may be releasing.
TEST(Outage, DoesNotBringBackWhatItsOwnerHasAnyway) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.add({make_lease(2, "/a")});
  story.wait();
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  Outcomes answer;
  answer.outcomes.push_back({.lease = make_lease(1, "/a"), .error = Error{Code::not_found, "gone"}});
  answer.outcomes.push_back({.lease = story.fresh(make_lease(2, "/a"))});

  story.state.answered(*call, answer, {story.now, story.now});

  EXPECT_EQ(story.told(), (Words{"lost", "renewed"}));
  EXPECT_FALSE(story.next<AcquireCall>());
  EXPECT_EQ(story.state.kept().size(), 1U);
  EXPECT_TRUE(story.state.use("/a", Mode::exclusive, story.now));
}

TEST(Outage, DoesNotBringBackWhatWasRemovedMeanwhile) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  ASSERT_TRUE(story.refuse_renewal(Code::not_found));
  const auto call = story.next<AcquireCall>();
  ASSERT_TRUE(call);
  story.told();
  story.state.remove({lease_id(1)});

  const Lease again = story.fresh(make_lease(2, "/a"));
  story.state.answered(*call, AcquireAnswer{Granted{.group_id = again.group_id, .leases = {again}}, {}},
                       {story.now, story.now});

  EXPECT_TRUE(story.state.kept().empty());
  EXPECT_TRUE(story.told().empty());
  const auto release = story.next<ReleaseCall>();
  ASSERT_TRUE(release);
  EXPECT_EQ(release->request.which.ids, std::vector{lease_id(2)});
}

// --- Endings

// By whatever way the keeper learns of it: the outcome's lease, a notice, or by asking.
TEST(Ending, DecidesWhetherALeaseIsAcquiredAgain) {
  struct Row {
    EndCause cause;
    bool comes_back;
  };
  for (const auto& [cause, comes_back] :
       {Row{EndCause::expired, true}, Row{EndCause::silent, true}, Row{EndCause::released, false},
        Row{EndCause::forced, false}, Row{EndCause::idle, false}, Row{EndCause::owner_dead, false},
        Row{EndCause::recalled, false}, Row{EndCause::transferred, false}}) {
    for (const int way : {0, 1, 2}) {
      SCOPED_TRACE(std::string(word(cause)) + " way " + std::to_string(way));
      if (way == 1 && cause == EndCause::recalled)
        continue;  // That notice tells of the recall, not of the end.
      Story story;
      const Lease lease = make_lease(1, "/a");
      story.add({lease});
      story.wait();
      const auto call = story.next<RenewCall>();
      ASSERT_TRUE(call);
      Outcomes answer;
      answer.outcomes.push_back({.path = "/a", .lease = lease, .error = Error{Code::lost, "over"}});
      if (way == 0) answer.outcomes[0].lease = ended(lease, cause);
      if (way == 1) answer.notices = {notice_of(lease, cause)};
      story.state.answered(*call, answer, {story.now, story.now});
      EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
      if (way == 2) {
        ASSERT_TRUE(story.look_up(ended(lease, cause)));
      }

      EXPECT_EQ(story.next<AcquireCall>().has_value(), comes_back);
      EXPECT_EQ(story.state.kept().empty(), !comes_back);
      const Words told = story.told();
      ASSERT_EQ(std::ranges::count(told, "lost"), 1);
      EXPECT_EQ(std::ranges::find(story.events, KeeperEventType::lost, &KeeperEvent::type)->cause, cause);
    }
  }
}

TEST(Ending, ByTransferIsFinal) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();

  ASSERT_TRUE(story.refuse_renewal(Code::transferred));

  ASSERT_EQ(story.told(), Words{"lost"});
  EXPECT_EQ(story.events.front().cause, EndCause::transferred);
  EXPECT_EQ(story.events.front().error->code, Code::transferred);
  EXPECT_TRUE(story.state.kept().empty());
}

TEST(Ending, DuringAnOutageIsToldWhenItIsKnown) {
  Story story;
  story.add({make_lease(1, "/a")});
  sit_out_an_outage(story);
  story.told();

  ASSERT_TRUE(story.refuse_renewal(Code::lost, {notice_of(make_lease(1, "/a"), EndCause::forced)}));

  ASSERT_EQ(story.told(), (Words{"lost", "noticed"}));
  EXPECT_EQ(story.events.front().cause, EndCause::forced);
  EXPECT_TRUE(story.state.kept().empty());
}

// A call for all leases of the owner does not answer for those that are over.
TEST(Ending, IsLookedUpWhenTheStoreIsSilentAboutIt) {
  Story story;
  story.add({make_lease(1, "/a"), make_lease(2, "/b")});
  story.wait();
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  const Outcomes answer = {.outcomes = {{.path = "/b", .lease = story.fresh(make_lease(2, "/b"))}}};

  story.state.answered(*call, answer, {story.now, story.now});

  EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
  EXPECT_TRUE(story.state.is_valid(lease_id(2), story.now));
  ASSERT_TRUE(story.look_up(fail(Code::unavailable, "gone again")));
  story.wait();
  ASSERT_TRUE(story.look_up(ended(make_lease(1, "/a"), EndCause::forced)));
  ASSERT_EQ(story.told(), (Words{"renewed", "missed", "lost"}));
  EXPECT_EQ(story.events.back().cause, EndCause::forced);
}

TEST(Ending, IsNotBelievedOfALeaseThatIsThereAfterAll) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  story.state.answered(*call, Outcomes{}, {story.now, story.now});

  ASSERT_TRUE(story.look_up(make_lease(1, "/a")));

  EXPECT_TRUE(story.state.is_valid(lease_id(1), story.now));
  story.wait();
  const auto again = story.next<RenewCall>();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->request.which.ids, std::vector{lease_id(1)});
  EXPECT_TRUE(story.told().empty());
}

// Else each would come back alone, and one grant would no longer be all or nothing.
TEST(Ending, IsClearForAllOfAGrantBeforeAnyIsAcquiredAgain) {
  Story story;
  const Lease first = make_lease(1, "/a");
  const Lease second = make_lease(2, "/b");
  story.add({first, second});
  story.wait();
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  story.state.answered(*call, Outcomes{}, {story.now, story.now});

  ASSERT_TRUE(story.look_up(ended(first, EndCause::expired)));
  ASSERT_TRUE(story.look_up(ended(second, EndCause::expired)));

  EXPECT_EQ(story.next<AcquireCall>()->ids, (std::vector{lease_id(1), lease_id(2)}));
}

// How the engine answers by id: in the order of the ids, and without a lease where it refuses.
TEST(Ending, IsUnderstoodWithoutALeaseInTheOutcome) {
  Story story;
  story.add({make_lease(1, "/a"), make_lease(2, "/b"), ttl_of(1h, make_lease(3, "/c"))});
  story.wait();
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  ASSERT_EQ(call->request.which.ids.size(), 2U);
  Outcomes answer;
  answer.outcomes.push_back({.path = "/a", .error = Error{Code::transferred, "away"}});
  answer.outcomes.push_back({.path = "/b", .lease = story.fresh(make_lease(2, "/b"))});

  story.state.answered(*call, answer, {story.now, story.now});

  ASSERT_EQ(story.told(), (Words{"lost", "renewed"}));
  EXPECT_EQ(story.events.front().lease->id, lease_id(1));
}

TEST(Ending, ByTheNumberOfRenewalsIsAnnouncedAndFinal) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();

  ASSERT_TRUE(story.refuse_renewal(Code::max_renewals_exceeded));

  ASSERT_EQ(story.told(), Words{"ending"});
  EXPECT_EQ(story.events.front().error->code, Code::max_renewals_exceeded);
  EXPECT_TRUE(story.state.is_valid(lease_id(1), story.now));
  EXPECT_EQ(story.next<Wait>()->until, LocalTime::max());  // No more renewals,
  EXPECT_EQ(story.state.next_expiry(), Story::kStart + kGood);
  story.now = Story::kStart + kGood;
  story.state.expire(story.now);
  ASSERT_EQ(story.told(), Words{"expired"});
  EXPECT_EQ(story.events.front().error->code, Code::max_renewals_exceeded);
  EXPECT_TRUE(story.state.kept().empty());  // and no way round that.
}

TEST(Ending, ByTheNumberOfRenewalsLeavesNothingOfALeaseThatWasOver) {
  Story story;
  story.add({make_lease(1, "/a")});
  sit_out_an_outage(story);
  story.told();

  ASSERT_TRUE(story.refuse_renewal(Code::max_renewals_exceeded));

  EXPECT_EQ(story.told(), Words{"lost"});
  EXPECT_TRUE(story.state.kept().empty());
}

TEST(Ending, ByRecallIsAnnouncedAndThenFinal) {
  Story story;
  Lease lease = make_lease(1, "/a");
  story.add({lease});
  story.wait();
  lease.recalled_at = story.store_now() + 60s;
  const LocalTime recalled = story.now + 60s;
  auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);

  story.state.answered(*call, Outcomes{.outcomes = {{.lease = story.fresh(lease)}}}, {story.now, story.now});
  EXPECT_EQ(story.told(), (Words{"ending", "renewed"}));
  EXPECT_FALSE(story.state.is_valid(lease_id(1), recalled - 6010ms));
  story.now = recalled - 6010ms;
  // It is asked for until the store says that it is over, but not without a pause.
  int calls = 0;
  for (; story.now < recalled; story.wait(), ++calls) {
    call = story.next<RenewCall>();
    ASSERT_TRUE(call);
    story.state.answered(*call, Outcomes{.outcomes = {{.lease = story.fresh(lease)}}},
                         {story.now, story.now});
  }
  EXPECT_LE(calls, 5);
  ASSERT_TRUE(story.refuse_renewal(Code::lost));
  ASSERT_TRUE(story.look_up(ended(lease, EndCause::recalled)));

  const Words told = story.told();
  EXPECT_EQ(told.front(), "expired");
  EXPECT_EQ(told.back(), "lost");
  EXPECT_EQ(std::ranges::count(told, "recovered"), 0);
  EXPECT_TRUE(story.state.kept().empty());
}

// Whatever a store answers, it is not asked again without a pause.
TEST(Renewing, IsNotHurriedByNonsense) {
  Lease elsewhere = make_lease(1, "/elsewhere");
  Lease older = make_lease(1, "/a");
  older.token.value -= 1;
  for (const std::optional<Lease>& lease :
       {std::optional(elsewhere), std::optional(older), std::optional<Lease>()}) {
    Story story;
    story.add({make_lease(1, "/a"), ttl_of(1h, make_lease(2, "/b"))});
    story.wait();
    const auto call = story.next<RenewCall>();
    ASSERT_TRUE(call);

    story.state.answered(*call, Outcomes{.outcomes = {{.lease = lease}}}, {story.now, story.now});

    EXPECT_TRUE(story.next<Wait>());
    EXPECT_EQ(story.state.left(lease_id(1), story.now), kGood - 2min);
    story.state.remove({lease_id(1)});
  }
}

TEST(Ending, OfOneLeaseByAnotherErrorIsTriedAgain) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();

  ASSERT_TRUE(story.refuse_renewal(Code::transaction_conflict));

  EXPECT_TRUE(story.state.is_valid(lease_id(1), story.now));
  const LocalTime before = story.now;
  story.wait();
  EXPECT_LE(story.now, before + 5s);
  EXPECT_TRUE(story.renew());
}

// --- Removing and claiming

TEST(Removing, TakesAlongWhatOnlyPairingAdded) {
  Story story;
  Lease test = make_lease(3, "/test");
  test.requested = false;
  test.paired_with = {"/a", "/b"};
  Lease asked_for = make_lease(4, "/asked");
  asked_for.paired_with = {"/a"};
  story.add({make_lease(1, "/a"), make_lease(2, "/b"), test, asked_for});

  story.state.remove({lease_id(1)});
  EXPECT_TRUE(story.state.is_valid(lease_id(3), story.now));
  EXPECT_TRUE(story.state.is_valid(lease_id(4), story.now));
  story.state.remove({lease_id(2)});

  EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
  EXPECT_FALSE(story.state.is_valid(lease_id(3), story.now));
  EXPECT_TRUE(story.state.is_valid(lease_id(4), story.now));
  EXPECT_EQ(story.state.use("/a", Mode::shared, story.now).error().code, Code::not_found);
}

TEST(Removing, IgnoresTheAnswerThatWasUnderWay) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.wait();
  const auto call = story.next<RenewCall>();
  ASSERT_TRUE(call);
  const Outcomes answer = story.renewed(*call);

  story.state.remove({lease_id(1), lease_id(77)});
  story.state.answered(*call, answer, {story.now, story.now});

  EXPECT_FALSE(story.state.is_valid(lease_id(1), story.now));
  EXPECT_EQ(story.next<Wait>()->until, LocalTime::max());
}

TEST(Claiming, IsOnlyOfWhatIsDueAndOnlyOnce) {
  Story story;
  story.add({make_lease(1, "/a")});
  story.state.add(Story::request_for(make_lease(2, "/b")), {.leases = {story.fresh(make_lease(2, "/b"))}},
                  std::nullopt, story.now);

  const auto call = story.state.claim({lease_id(1), lease_id(2), lease_id(3)}, story.now);

  ASSERT_TRUE(call);
  EXPECT_EQ(call->request.which.ids, std::vector{lease_id(2)});
  EXPECT_TRUE(story.next<Wait>());  // Somebody does it already.
  EXPECT_FALSE(story.state.claim({lease_id(2)}, story.now));
  story.state.answered(*call, story.renewed(*call), {story.now, story.now});
  EXPECT_TRUE(story.state.is_valid(lease_id(2), story.now));
}

}  // namespace
}  // namespace leasehold
