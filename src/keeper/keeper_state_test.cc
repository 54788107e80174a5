#include "keeper/keeper_state.h"

#include <gtest/gtest.h>

#include "keeper/story.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

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
