// How a request waits, one look after the other.
#include "manager/waiter.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <set>

#include "manager/lease_manager.h"
#include "support/faulty_store.h"
#include "support/forwarding_store.h"
#include "support/small_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

struct Glancing : testing::Test {
  Glancing() {
    world.probe.tell(process(1), Liveness::alive);
    EXPECT_TRUE(manager.acquire(asking(ann(), {"/a"})));
    AcquireRequest request = asking(bob(), {"/a"});
    request.wait = Duration(10min);
    request.waiter = process(1);
    bob_waits.emplace(manager, request, Waiter::Until::decided);
    bob_waits->look();
    EXPECT_FALSE(bob_waits->answer());
  }

  void release() {
    ReleaseRequest request = {.caller = caller(ann())};
    request.which.all = true;
    EXPECT_TRUE(manager.release(request));
  }

  SmallWorld world;
  FaultyStore store{*world.store};
  LeaseManager manager{Environment{world.probe, world.random}, store, kWorkspace, Policy{}};
  std::optional<Waiter> bob_waits;
};

TEST_F(Glancing, SeesAGrantAndWritesNothing) {
  release();
  store.lose_commits(1);

  bob_waits->glance();

  ASSERT_TRUE(bob_waits->answer());
  const Result<AcquireAnswer> answer = bob_waits->take_answer();
  ASSERT_TRUE(answer);
  ASSERT_TRUE(std::holds_alternative<Granted>(answer->decision));
  EXPECT_EQ(std::get<Granted>(answer->decision).leases.front().path, "/a");
  // That commit is still to be lost.
  EXPECT_EQ(manager.acquire(asking(ann(), {"/b"})).error().code, Code::outcome_unknown);
}

// What it was told by a look that was kept, the store does not tell again.
TEST_F(Glancing, KeepsWhatItWasToldWhenALookIsUndone) {
  ASSERT_TRUE(manager.acquire(asking(bob(), {"/b"})));
  ASSERT_TRUE(manager.force_release({.actor = "olga", .which = {.paths = {"/b"}}, .reason = "release day"}));
  bob_waits->look();
  ASSERT_FALSE(bob_waits->answer());
  release();

  bob_waits->look();
  ASSERT_TRUE(bob_waits->answer());
  bob_waits->undo();
  bob_waits->look();

  ASSERT_TRUE(bob_waits->answer());
  EXPECT_EQ((*bob_waits->answer())->notices.size(), 1U);
}

TEST_F(Glancing, LeavesItWaitingAsLongAsItIsNotGranted) {
  bob_waits->glance();
  EXPECT_FALSE(bob_waits->answer());

  store.be_unavailable(true);
  bob_waits->glance();
  EXPECT_FALSE(bob_waits->answer());

  store.be_unavailable(false);
  release();
  bob_waits->look();
  EXPECT_TRUE(bob_waits->answer());
}

// It has to be told what happened to it meanwhile, and that it was told is written.
TEST_F(Glancing, LeavesNoticesToTheNextLook) {
  ASSERT_TRUE(manager.acquire(asking(bob(), {"/other"})));
  ForceReleaseRequest forced;
  forced.which.paths = {"/other"};
  forced.actor = "op";
  forced.reason = "needed";
  ASSERT_TRUE(manager.force_release(forced));
  release();

  bob_waits->glance();
  EXPECT_FALSE(bob_waits->answer());

  bob_waits->look();
  ASSERT_TRUE(bob_waits->answer());
  EXPECT_EQ((*bob_waits->answer())->notices.size(), 1U);
}

bool can_be_read(const std::vector<int>& fds) {
  std::vector<pollfd> all;
  for (const int fd : fds) all.push_back({fd, POLLIN, 0});
  return ::poll(all.data(), all.size(), 0) > 0;
}

// As a store does that could not listen for a while: something may have been missed.
TEST_F(Glancing, WhoWasRungForNothingSleepsAgain) {
  const GroupId ticket = std::get<Queued>(bob_waits->standing().decision).ticket;
  ASSERT_TRUE(store.transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
    transaction.ring(ticket);
    return {};
  }));
  ASSERT_TRUE(can_be_read(bob_waits->pause().fds));

  bob_waits->look();
  EXPECT_EQ(bob_waits->pause().at_most, Duration::zero()) << "it may have been rung meanwhile";
  bob_waits->look();

  EXPECT_GT(bob_waits->pause().at_most, Duration::zero());
  EXPECT_FALSE(can_be_read(bob_waits->pause().fds));
  EXPECT_FALSE(bob_waits->answer());
  release();
  EXPECT_TRUE(can_be_read(bob_waits->pause().fds)) << "it is heard all the same";
}

// One call of several by which somebody asks after its place.
TEST_F(Glancing, AskingAfterATicketInVainKeepsItsPlace) {
  Waiter asks(manager, caller(bob()), std::get<Queued>(bob_waits->standing().decision).ticket);
  store.lose_commits(1);

  asks.look();

  ASSERT_TRUE(asks.answer());
  EXPECT_EQ(asks.take_answer().error().code, Code::outcome_unknown);
  release();
  bob_waits->look();
  ASSERT_TRUE(bob_waits->answer());
  EXPECT_TRUE(std::holds_alternative<Granted>((*bob_waits->answer())->decision));
}

// Forty who came together for one path, and one who holds it for a second.
struct Crowd : testing::Test {
  Crowd() {
    world.probe.tell(process(1), Liveness::alive);
    AcquireRequest brief = asking(ann(), {"/a"});
    brief.ttl = Duration(1s);
    brief.caller.holder.process = process(1);
    EXPECT_TRUE(world.manager.acquire(brief));
    for (int i = 0; i < 40; ++i) {
      AcquireRequest request = asking({"agent" + std::to_string(i), "s"}, {"/a"});
      request.wait = Duration(10min);
      waiters.push_back(std::make_unique<Waiter>(world.manager, request, Waiter::Until::decided));
      waiters.back()->look();
    }
  }

  SmallWorld world;
  std::vector<std::unique_ptr<Waiter>> waiters;
};

TEST_F(Crowd, ThoseBehindLookAgainOutOfStep) {
  std::set<Duration> pauses;
  for (int i = 30; i < 40; ++i) pauses.insert(waiters[i]->pause().at_most);

  EXPECT_GT(pauses.size(), 5u);
  EXPECT_GE(*pauses.begin(), Duration(1'500ms)) << "half of what their place asks for";
  EXPECT_LE(*pauses.rbegin(), Duration(4s));
}

TEST_F(Crowd, OnlyThoseInFrontLookWhenTheHoldersTimeIsOver) {
  for (int i = 0; i < 10; ++i) EXPECT_LE(waiters[i]->pause().at_most, Duration(1s)) << i;
  for (int i = 20; i < 40; ++i) EXPECT_GT(waiters[i]->pause().at_most, Duration(1s)) << i;
}

TEST_F(Crowd, WhoIsInTheWayIsToldShortlyHoldersFirstThenThoseWhoGoNext) {
  const Queued last = std::get<Queued>(waiters.back()->standing().decision);

  EXPECT_EQ(last.position, 40u);
  ASSERT_EQ(last.blocked.size(), 10u);
  EXPECT_EQ(last.blocked.front().holder.owner, ann());
  EXPECT_EQ(last.blocked.front().waiters_ahead, 39u);
  for (std::size_t i = 1; i < 10; ++i)
    EXPECT_EQ(last.blocked[i].holder.owner.agent_id, "agent" + std::to_string(i - 1));
  EXPECT_EQ(last.more_blocked, 30u);
  const Queued first = std::get<Queued>(waiters.front()->standing().decision);
  EXPECT_EQ(first.blocked.size(), 1u);
  EXPECT_EQ(first.more_blocked, 0u);

  const auto refused = world.manager.acquire(asking(bob(), {"/a", "/b"}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(std::get<Refused>(refused->decision).blocked.size(), 10u);
  EXPECT_EQ(std::get<Refused>(refused->decision).more_blocked, 31u);
}

// Counts how often something is decided, and a queue is read.
class CountingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    ++transactions;
    return ForwardingStore::transact(footprint, [&](Transaction& transaction) {
      Counting counting(transaction, queues_read);
      return body(counting);
    });
  }

  int transactions = 0;
  int queues_read = 0;

 private:
  class Counting final : public ForwardingTransaction {
   public:
    Counting(Transaction& transaction, int& count) : ForwardingTransaction(transaction), count_(count) {}
    std::vector<Ticket> tickets_at(const std::vector<Scope>& scopes) override {
      ++count_;
      return ForwardingTransaction::tickets_at(scopes);
    }

   private:
    int& count_;
  };
};

// Two processes of one owner: what the first one's death ends is not the second one's wait.
TEST_F(Glancing, WhoAsksAgainUnderItsKeyWaitsFromThenOn) {
  world.probe.tell(process(2), Liveness::alive);
  world.probe.tell(process(3), Liveness::alive);
  const auto waiting = [&](const Process& by) {
    AcquireRequest request = asking({"cyd", "s"}, {"/a"});
    request.wait = Duration(10min);
    request.waiter = by;
    request.idempotency_key = "k";
    auto waiter = std::make_unique<Waiter>(manager, request, Waiter::Until::decided);
    waiter->look();
    return waiter;
  };
  const auto first = waiting(process(2));
  const auto second = waiting(process(3));
  bob_waits->give_up();

  world.probe.tell(process(2), Liveness::dead);
  release();
  second->look();

  ASSERT_TRUE(second->answer());
  EXPECT_TRUE(std::holds_alternative<Granted>(second->take_answer()->decision));
}

// While its command was dead it did not count, and another one came to wait for its owner.
TEST_F(Glancing, WhoAsksAgainByAnotherCommandClosesNoCircleUnnoticed) {
  for (const int command : {2, 3}) world.probe.tell(process(command), Liveness::alive);
  const Owner cyd = {"cyd", "s"};
  const Owner dan = {"dan", "s4"};
  ASSERT_TRUE(manager.acquire(asking(cyd, {"/x"})));
  ASSERT_TRUE(manager.acquire(asking(dan, {"/y"})));
  const auto cyd_waits = [&](int command) {
    AcquireRequest request = asking(cyd, {"/y"});
    request.wait = Duration(10min);
    request.waiter = process(command);
    request.idempotency_key = "k";
    return manager.acquire(request);
  };
  ASSERT_TRUE(std::holds_alternative<Queued>(cyd_waits(2)->decision));
  world.probe.tell(process(2), Liveness::dead);
  AcquireRequest other = asking(dan, {"/x"});
  other.wait = Duration(10min);
  ASSERT_TRUE(std::holds_alternative<Queued>(manager.acquire(other)->decision));

  const auto again = cyd_waits(3);

  ASSERT_TRUE(again);
  ASSERT_TRUE(std::holds_alternative<Refused>(again->decision));
  EXPECT_EQ(std::get<Refused>(again->decision).code, Code::deadlock);
}

// An agent that was restarted asks again; when the command that waits for it dies, the wait is over, though
// the agent lives.
TEST_F(Glancing, WhoAsksAgainAfterARestartIsTheOneWhoWaits) {
  const auto waiting = [&](int agent, int command) {
    AcquireRequest request = asking({"cyd", "s"}, {"/a"});
    request.caller.holder.process = process(agent);
    request.wait = Duration(10min);
    request.waiter = process(command);
    request.idempotency_key = "k";
    world.probe.tell(process(agent), Liveness::alive);
    world.probe.tell(process(command), Liveness::alive);
    auto waiter = std::make_unique<Waiter>(manager, request, Waiter::Until::decided);
    waiter->look();
    return waiter;
  };
  const auto first = waiting(20, 2);
  world.probe.tell(process(20), Liveness::dead);
  world.probe.tell(process(2), Liveness::dead);
  const auto second = waiting(21, 3);
  bob_waits->give_up();

  world.probe.tell(process(3), Liveness::dead);
  release();

  const auto asked = manager.acquire(asking({"dan", "s4"}, {"/a"}));
  ASSERT_TRUE(asked);
  EXPECT_TRUE(std::holds_alternative<Granted>(asked->decision));
}

// Its wait began before it asked: a keeper must not count from then.
TEST_F(Glancing, WhoAsksAgainUnderItsKeyIsToldThatItsGrantIsOfThen) {
  const auto waiting = [&](const char* key) {
    AcquireRequest request = asking({"cyd", "s"}, {"/a"});
    request.wait = Duration(10min);
    request.idempotency_key = key;
    auto waiter = std::make_unique<Waiter>(manager, request, Waiter::Until::decided);
    waiter->look();
    return waiter;
  };
  const auto first = waiting("k");
  const auto second = waiting("k");
  bob_waits->give_up();
  release();
  first->look();
  second->look();

  ASSERT_TRUE(first->answer());
  ASSERT_TRUE(second->answer());
  EXPECT_FALSE(std::get<Granted>(first->take_answer()->decision).replayed);
  EXPECT_TRUE(std::get<Granted>(second->take_answer()->decision).replayed);
}

struct FarBehind : testing::Test {
  FarBehind() {
    EXPECT_TRUE(manager.acquire(asking(ann(), {"/a"})));
    for (int i = 0; i < 15; ++i) waiters.push_back(waiting("agent" + std::to_string(i)));
  }

  std::unique_ptr<Waiter> waiting(const std::string& agent, const std::optional<Process>& by = {}) {
    AcquireRequest request = asking({agent, "s"}, {"/a"});
    request.wait = Duration(10min);
    request.waiter = by;
    auto waiter = std::make_unique<Waiter>(manager, request, Waiter::Until::decided);
    waiter->look();
    return waiter;
  }
  // What the next look of the last one reads.
  int read_by_last() {
    store.queues_read = 0;
    waiters.back()->look();
    return store.queues_read;
  }

  SmallWorld world;
  CountingStore store{*world.store};
  LeaseManager manager{Environment{world.probe, world.random}, store, kWorkspace, Policy{}};
  std::vector<std::unique_ptr<Waiter>> waiters;
};

TEST_F(FarBehind, ReadsTheQueueEveryThirdTimeAndCountsAllTheWhile) {
  for (const bool reads : {false, false, true, false}) {
    world.clock.advance(10s);
    for (std::size_t i = 0; i + 1 < waiters.size(); ++i) waiters[i]->look();
    EXPECT_EQ(read_by_last() > 0, reads);
    EXPECT_GT(waiters.back()->pause().fds.size(), 0u) << "it hears its bell";
  }

  EXPECT_EQ(std::get<Queued>(waiting("late")->standing().decision).position, 16u);
}

TEST_F(FarBehind, WritesNothingOnceItsBellHasRung) {
  world.probe.tell(process(1), Liveness::alive);
  const auto last = waiting("last", process(1));
  for (const auto& waiter : waiters) waiter->give_up();
  ASSERT_TRUE(manager.release({.caller = caller(ann()), .which = {.all = true}}));
  store.transactions = 0;

  last->look();

  ASSERT_TRUE(last->answer());
  EXPECT_TRUE(std::holds_alternative<Granted>((*last->answer())->decision));
  EXPECT_EQ(store.transactions, 0);
}

TEST_F(FarBehind, LearnsWhatBecameOfIt) {
  ASSERT_TRUE(
      manager.cancel(caller({"agent14", "s"}), std::get<Queued>(waiters.back()->standing().decision).ticket));

  waiters.back()->look();

  ASSERT_TRUE(waiters.back()->answer());
  EXPECT_TRUE(std::holds_alternative<Refused>((*waiters.back()->answer())->decision));
}

}  // namespace
}  // namespace leasehold
