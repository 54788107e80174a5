// What a keeper does while the store cannot be reached, and afterwards.
#include <gtest/gtest.h>

#include <algorithm>

#include "keeper/keeper_state.h"
#include "keeper/story.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace leasehold
