// What a keeper makes of leases that end.
#include <gtest/gtest.h>

#include <algorithm>

#include "keeper/keeper_state.h"
#include "keeper/story.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

Lease ended(Lease lease, EndCause cause) {
  lease.status = cause == EndCause::expired ? Status::expired : Status::released;
  lease.ended_by = cause;
  return lease;
}

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
TEST(Ending, IsNotHurriedByNonsense) {
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

}  // namespace
}  // namespace leasehold
