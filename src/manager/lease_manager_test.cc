// What the engine's scenarios cannot show: waiting with real threads, and a store that misbehaves.
#include "manager/lease_manager.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "support/faulty_store.h"
#include "support/small_world.h"
#include "support/take_rings.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Far more than anything here takes; a test that waits this long has failed.
constexpr auto kFarTooLong = 60s;

LeaseManager manager_on(SmallWorld& world, Store& store) {
  return {Environment{world.probe, world.random}, store, kWorkspace, Policy{}};
}

AcquireRequest waiting(const Owner& owner, std::initializer_list<const char*> paths, Duration wait = 10min) {
  AcquireRequest request = asking(owner, paths);
  request.wait = wait;
  return request;
}

template <class Kind>
const Kind* as(const Result<AcquireAnswer>& answer) {
  return answer ? std::get_if<Kind>(&answer->decision) : nullptr;
}

ReleaseRequest releasing(const Owner& owner, const char* path) {
  ReleaseRequest request = {.caller = caller(owner)};
  request.which.paths = {path};
  return request;
}

std::vector<Lease> rows(LeaseManager& manager, Status status) {
  std::vector<Lease> found;
  const auto board = manager.board();
  if (!board) return found;
  for (const BoardRow& row : board->rows) {
    if (row.lease.status == status) found.push_back(row.lease);
  }
  return found;
}

std::size_t events(LeaseManager& manager, EventType type) {
  const auto history = manager.history({});
  return history ? static_cast<std::size_t>(std::ranges::count(*history, type, &Event::type)) : 0;
}

TEST(LeaseManager, WhileGrantsAreWithheldWhoWaitsWaitsOn) {
  SmallWorld world;
  bool withholds = true;
  LeaseManager manager({world.probe, world.random}, *world.store, kWorkspace, Policy{},
                       {.withholds = [&] { return withholds; }});
  ASSERT_TRUE(as<Granted>(manager.acquire(asking(ann(), {"/a"}))));
  const auto queued = manager.acquire(waiting(bob(), {"/a"}));
  ASSERT_TRUE(as<Queued>(queued));
  const GroupId ticket = as<Queued>(queued)->ticket;

  ASSERT_TRUE(manager.release(releasing(ann(), "/a")));
  EXPECT_TRUE(as<Queued>(manager.poll(caller(bob()), ticket)));
  EXPECT_TRUE(rows(manager, Status::active).empty());

  withholds = false;
  EXPECT_TRUE(as<Granted>(manager.poll(caller(bob()), ticket)));
}

// Waits until so many paths are waited for.
bool wait_for_waiters(LeaseManager& manager, std::size_t count) {
  const auto deadline = std::chrono::steady_clock::now() + kFarTooLong;
  while (rows(manager, Status::pending).size() != count) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// A call that waits, in a thread of its own.
class Waiter {
 public:
  Waiter(LeaseManager& manager, AcquireRequest request, int cancelled = -1)
      : answer_(std::async(std::launch::async, [&manager, request = std::move(request), cancelled] {
          return manager.acquire_and_wait(request, cancelled);
        })) {}

  Result<AcquireAnswer> answer() {
    if (answer_.wait_for(kFarTooLong) != std::future_status::ready)
      return fail(Code::unavailable, "it waits for ever");
    return answer_.get();
  }

 private:
  std::future<Result<AcquireAnswer>> answer_;
};

// Readable once somebody gives up.
class GiveUp {
 public:
  GiveUp() : fd_(eventfd(0, EFD_CLOEXEC)) {}
  GiveUp(const GiveUp&) = delete;
  GiveUp& operator=(const GiveUp&) = delete;
  ~GiveUp() { close(fd_); }

  int fd() const { return fd_; }
  void now() { eventfd_write(fd_, 1); }

 private:
  int fd_;
};

// Two processes of one owner, each with a keeper that renews all.
TEST(Renewing, EverythingLeavesEachLeaseItsProcess) {
  SmallWorld world;
  for (const std::int64_t pid : {1, 2}) {
    world.probe.tell(process(pid), Liveness::alive);
    AcquireRequest request = asking(ann(), {pid == 1 ? "/a" : "/b"});
    request.caller.holder.process = process(pid);
    ASSERT_NE(as<Granted>(world.manager.acquire(request)), nullptr);
  }
  RenewRequest all = {.caller = caller(ann())};
  all.caller.holder.process = process(1);
  all.which.all = true;

  ASSERT_TRUE(world.manager.renew(all));
  world.probe.tell(process(1), Liveness::dead);

  EXPECT_NE(as<Granted>(world.manager.acquire(asking(bob(), {"/a"}))), nullptr);
  EXPECT_NE(as<Refused>(world.manager.acquire(asking(bob(), {"/b"}))), nullptr);
}

TEST(Waiting, GetsThePathWhenItsHolderReleasesIt) {
  SmallWorld world;
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  Waiter bob_waits(world.manager, waiting(bob(), {"/a"}));
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  ASSERT_TRUE(world.manager.release(releasing(ann(), "/a")));

  const auto answer = bob_waits.answer();
  ASSERT_NE(as<Granted>(answer), nullptr);
  EXPECT_EQ(as<Granted>(answer)->leases, rows(world.manager, Status::active));
}

TEST(Waiting, NeedsNoBellToNoticeItsTurn) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager manager = manager_on(world, store);
  ASSERT_NE(as<Granted>(manager.acquire(asking(ann(), {"/a"}))), nullptr);
  Waiter bob_waits(manager, waiting(bob(), {"/a"}));
  ASSERT_TRUE(wait_for_waiters(manager, 1));

  store.lose_rings(1);
  ASSERT_TRUE(manager.release(releasing(ann(), "/a")));

  EXPECT_NE(as<Granted>(bob_waits.answer()), nullptr);
}

TEST(Waiting, GetsThePathWhenItsHolderDies) {
  SmallWorld world;
  world.probe.tell(process(1), Liveness::alive);
  AcquireRequest held = asking(ann(), {"/a"});
  held.caller.holder.process = process(1);
  ASSERT_NE(as<Granted>(world.manager.acquire(held)), nullptr);
  Waiter bob_waits(world.manager, waiting(bob(), {"/a"}));
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  world.probe.tell(process(1), Liveness::dead);

  EXPECT_NE(as<Granted>(bob_waits.answer()), nullptr);
}

TEST(Waiting, TimesOutAndSaysHowLongAndForWhom) {
  SmallWorld world;
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  Waiter bob_waits(world.manager, waiting(bob(), {"/a"}, 90s));
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  world.clock.advance(90s);

  const auto answer = bob_waits.answer();
  const auto* refused = as<Refused>(answer);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, Code::timeout);
  EXPECT_NE(refused->message.find("1m30s"), std::string::npos) << refused->message;
  EXPECT_NE(refused->message.find("ann"), std::string::npos) << refused->message;
  ASSERT_EQ(refused->blocked.size(), 1U);
  EXPECT_EQ(refused->blocked.front().holder.owner, ann());
  EXPECT_TRUE(rows(world.manager, Status::pending).empty());
}

TEST(Waiting, GivenUpLeavesNothingQueuedOrHeld) {
  SmallWorld world;
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  GiveUp give_up;
  Waiter bob_waits(world.manager, waiting(bob(), {"/a", "/b"}), give_up.fd());
  ASSERT_TRUE(wait_for_waiters(world.manager, 2));

  give_up.now();

  const auto answer = bob_waits.answer();
  ASSERT_NE(as<Refused>(answer), nullptr);
  EXPECT_EQ(as<Refused>(answer)->code, Code::lost);
  EXPECT_TRUE(rows(world.manager, Status::pending).empty());
  ASSERT_EQ(rows(world.manager, Status::active).size(), 1U);
  EXPECT_EQ(rows(world.manager, Status::active).front().holder.owner, ann());
}

// The other end of a pipe closes when its process dies: nobody is there to wait for.
TEST(Waiting, IsGivenUpWhenThePipeIsClosed) {
  SmallWorld world;
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Waiter bob_waits(world.manager, waiting(bob(), {"/a"}), ends[0]);
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  close(ends[1]);

  const auto answer = bob_waits.answer();
  EXPECT_NE(as<Refused>(answer), nullptr);
  EXPECT_TRUE(rows(world.manager, Status::pending).empty());
  close(ends[0]);
}

TEST(Waiting, GivenUpStillTellsWhatHappenedMeanwhile) {
  SmallWorld world;
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(bob(), {"/b"}))), nullptr);
  ForceReleaseRequest force = {.actor = "olga", .reason = "release day"};
  force.which.paths = {"/b"};
  ASSERT_TRUE(world.manager.force_release(force));
  GiveUp give_up;
  Waiter bob_waits(world.manager, waiting(bob(), {"/a"}), give_up.fd());
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  give_up.now();

  const auto answer = bob_waits.answer();
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->notices.size(), 1U);
  EXPECT_EQ(answer->notices.front().cause, EndCause::forced);
}

// One bad answer is no reason to give up a place in the queue.
TEST(Waiting, GoesOnWhenTheStoreIsBack) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager bobs_manager = manager_on(world, store);
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  Waiter bob_waits(bobs_manager, waiting(bob(), {"/a"}));
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  store.be_unavailable(true);
  ASSERT_TRUE(world.manager.release(releasing(ann(), "/a")));  // The bell rings, and bob cannot look.
  const auto silence = std::chrono::steady_clock::now() + kFarTooLong;
  while (store.calls_refused() < 2 && std::chrono::steady_clock::now() < silence) std::this_thread::yield();
  store.be_unavailable(false);

  EXPECT_NE(as<Granted>(bob_waits.answer()), nullptr);
}

TEST(Waiting, IsNotDisturbedByLostAnswersAndForgetsNoNotice) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager bobs_manager = manager_on(world, store);
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(bob(), {"/b"}))), nullptr);
  ForceReleaseRequest force = {.actor = "olga", .reason = "release day"};
  force.which.paths = {"/b"};
  ASSERT_TRUE(world.manager.force_release(force));
  Waiter bob_waits(bobs_manager, waiting(bob(), {"/a"}));  // The first answer tells of it.
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  store.lose_answers(2);
  ASSERT_TRUE(world.manager.release(releasing(ann(), "/a")));

  const auto answer = bob_waits.answer();
  ASSERT_NE(as<Granted>(answer), nullptr);
  ASSERT_EQ(answer->notices.size(), 1U);
  EXPECT_EQ(answer->notices.front().cause, EndCause::forced);
}

TEST(Waiting, EndsByItsTimeIfTheStoreStaysAwayAndLeavesNothingIfItHears) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager bobs_manager = manager_on(world, store);
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  Waiter bob_waits(bobs_manager, waiting(bob(), {"/a"}, 500ms));
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  store.lose_answers(1'000'000);  // All is done, and nobody says so.

  EXPECT_EQ(bob_waits.answer().error().code, Code::outcome_unknown);
  EXPECT_TRUE(rows(world.manager, Status::pending).empty());
}

TEST(Waiting, CanBeGivenUpWhileTheStoreIsAway) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager bobs_manager = manager_on(world, store);
  ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
  GiveUp give_up;
  Waiter bob_waits(bobs_manager, waiting(bob(), {"/a"}), give_up.fd());
  ASSERT_TRUE(wait_for_waiters(world.manager, 1));

  store.be_unavailable(true);
  give_up.now();

  EXPECT_EQ(bob_waits.answer().error().code, Code::unavailable) << "it could not be given back";
}

// Whichever comes first: afterwards bob holds it and knows, or does not hold it and is told so.
TEST(Waiting, GivenUpAtTheMomentOfTheGrantIsOneOrTheOther) {
  for (int round = 0; round < 50; ++round) {
    SmallWorld world;
    ASSERT_NE(as<Granted>(world.manager.acquire(asking(ann(), {"/a"}))), nullptr);
    GiveUp give_up;
    Waiter bob_waits(world.manager, waiting(bob(), {"/a"}), give_up.fd());
    ASSERT_TRUE(wait_for_waiters(world.manager, 1));

    std::thread gives_up([&] { give_up.now(); });
    ASSERT_TRUE(world.manager.release(releasing(ann(), "/a")));
    gives_up.join();

    const auto answer = bob_waits.answer();
    ASSERT_TRUE(answer);
    const bool granted = as<Granted>(answer) != nullptr;
    EXPECT_EQ(rows(world.manager, Status::active).size(), granted ? 1U : 0U);
    EXPECT_TRUE(rows(world.manager, Status::pending).empty());
  }
}

// ThreadSanitizer sees it if two are ever let in at once.
TEST(Waiting, LetsInOneAtATime) {
  constexpr int kAgents = 6;
  constexpr int kTurns = 10;
  SmallWorld world;
  int entered = 0;  // Not atomic: the lease protects it.
  std::atomic<int> refused = 0;

  std::vector<std::thread> agents;
  for (int agent = 0; agent < kAgents; ++agent) {
    agents.emplace_back([&, owner = Owner{"agent-" + std::to_string(agent), ""}] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const auto answer = world.manager.acquire_and_wait(waiting(owner, {"/a"}));
        if (as<Granted>(answer) == nullptr) {
          ++refused;
          continue;
        }
        ++entered;
        if (!world.manager.release(releasing(owner, "/a"))) ++refused;
      }
    });
  }
  for (std::thread& agent : agents) agent.join();

  EXPECT_EQ(refused, 0);
  EXPECT_EQ(entered, kAgents * kTurns);
  EXPECT_EQ(events(world.manager, EventType::acquired), static_cast<std::size_t>(kAgents * kTurns));
  EXPECT_TRUE(rows(world.manager, Status::active).empty());
  EXPECT_TRUE(rows(world.manager, Status::pending).empty());
}

TEST(Rooms, RefuseBeforeTheStoreIsTouched) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager manager = manager_on(world, store);
  store.be_unavailable(true);
  AcquireRequest request = waiting(ann(), {"/a"});
  request.room = "kitchen";

  manager.rooms().set_busy("kitchen", true);
  for (const auto& answer :
       {manager.acquire(request), manager.acquire_and_wait(request), manager.upgrade(request)}) {
    ASSERT_NE(as<Refused>(answer), nullptr);
    EXPECT_EQ(as<Refused>(answer)->code, Code::busy);
    EXPECT_NE(as<Refused>(answer)->message.find("kitchen"), std::string::npos);
  }

  manager.rooms().set_busy("kitchen", false);
  EXPECT_EQ(manager.acquire(request).error().code, Code::unavailable);
  EXPECT_EQ(manager.acquire_and_wait(request).error().code, Code::unavailable);
}

class CountingProbe final : public LivenessProbe {
 public:
  Verdict look_at(const Process& asked) override {
    ++looks;
    return {asked == dead ? Liveness::dead : Liveness::alive, "told so"};
  }

  Process dead;
  int looks = 0;
};

TEST(Liveness, IsLookedAtOnceInACallHoweverOftenItRuns) {
  SmallWorld world;
  FaultyStore store(*world.store);
  CountingProbe probe;
  LeaseManager manager({probe, world.random}, store, kWorkspace, Policy{});
  AcquireRequest held = asking(ann(), {"/a"});
  held.caller.holder.process = process(1);
  const auto first = manager.acquire(held);
  ASSERT_NE(as<Granted>(first), nullptr);
  EXPECT_EQ(probe.looks, 0) << "whoever asks is there";

  store.run_in_vain(2);
  EXPECT_NE(as<Refused>(manager.acquire(asking(bob(), {"/a"}))), nullptr);
  EXPECT_EQ(probe.looks, 1);
  EXPECT_TRUE(manager.board());
  EXPECT_TRUE(manager.check(caller(bob()), "/a", as<Granted>(first)->leases.front().token)->current);
  EXPECT_TRUE(manager.turn_stopped({.owner = ann()}));
  EXPECT_TRUE(manager.sweep(true));
  EXPECT_EQ(probe.looks, 5) << "each call looks for itself";

  probe.dead = process(1);
  EXPECT_NE(as<Granted>(manager.acquire(asking(bob(), {"/a"}))), nullptr);
}

// Bodies run again on a conflict. Whatever they did before must not show.
TEST(BodyThatRunsAgain, HasNoDoubleEffect) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager manager = manager_on(world, store);
  store.run_in_vain(2);

  ASSERT_NE(as<Granted>(manager.acquire(asking(ann(), {"/a", "/b"}))), nullptr);
  const auto queued = manager.acquire(waiting(bob(), {"/a"}));
  ASSERT_NE(as<Queued>(queued), nullptr);
  EXPECT_EQ(as<Queued>(queued)->position, 1U);
  const auto bell = store.listen(kWorkspace, as<Queued>(queued)->ticket);
  RenewRequest renew = {.caller = caller(ann())};
  renew.which.paths = {"/a"};
  EXPECT_EQ(manager.renew(renew)->outcomes.front().lease->renewal_count, 1);
  ForceReleaseRequest force = {.actor = "olga", .reason = "release day"};
  force.which.paths = {"/a"};
  EXPECT_EQ(manager.force_release(force)->outcomes.size(), 1U);

  EXPECT_EQ(take_rings(**bell), 1U);
  EXPECT_NE(as<Granted>(manager.poll(caller(bob()), as<Queued>(queued)->ticket)), nullptr);
  const auto released = manager.release({.caller = caller(ann()), .which = {.all = true}});
  EXPECT_FALSE(released->outcomes.front().already);
  EXPECT_EQ(released->notices.size(), 1U) << "told once, though asked for in vain before";

  EXPECT_EQ(rows(manager, Status::active).size(), 1U);
  EXPECT_TRUE(rows(manager, Status::pending).empty());
  EXPECT_EQ(events(manager, EventType::acquired), 3U);
  EXPECT_EQ(events(manager, EventType::queued), 1U);
  EXPECT_EQ(events(manager, EventType::renewed), 1U);
  EXPECT_EQ(events(manager, EventType::released), 2U);
}

TEST(LostAnswer, AskedForAgainUnderItsKeyIsOneGrant) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager manager = manager_on(world, store);
  AcquireRequest request = asking(ann(), {"/a", "/b"});
  request.idempotency_key = "key";

  store.lose_answers(1);
  EXPECT_EQ(manager.acquire(request).error().code, Code::outcome_unknown);
  const auto again = manager.acquire(request);

  ASSERT_NE(as<Granted>(again), nullptr);
  EXPECT_TRUE(as<Granted>(again)->replayed);
  EXPECT_EQ(as<Granted>(again)->leases.size(), 2U);
  EXPECT_EQ(events(manager, EventType::acquired), 2U);
}

TEST(LostCommit, AskedForAgainUnderItsKeyIsOneGrant) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager manager = manager_on(world, store);
  AcquireRequest request = asking(ann(), {"/a"});
  request.idempotency_key = "key";

  store.lose_commits(1);
  EXPECT_EQ(manager.acquire(request).error().code, Code::outcome_unknown);
  EXPECT_TRUE(rows(manager, Status::active).empty());
  const auto again = manager.acquire(request);

  ASSERT_NE(as<Granted>(again), nullptr);
  EXPECT_FALSE(as<Granted>(again)->replayed);
  EXPECT_EQ(events(manager, EventType::acquired), 1U);
}

TEST(LostAnswer, ToARequestThatWaitsIsOnePlaceInTheQueue) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager manager = manager_on(world, store);
  ASSERT_NE(as<Granted>(manager.acquire(asking(ann(), {"/a"}))), nullptr);
  AcquireRequest request = waiting(bob(), {"/a"});
  request.idempotency_key = "key";

  store.lose_answers(1);
  EXPECT_EQ(manager.acquire_and_wait(request).error().code, Code::outcome_unknown);
  Waiter again(manager, request);
  ASSERT_TRUE(wait_for_waiters(manager, 1));
  ASSERT_TRUE(manager.release(releasing(ann(), "/a")));

  const auto answer = again.answer();
  ASSERT_NE(as<Granted>(answer), nullptr);
  EXPECT_EQ(events(manager, EventType::queued), 1U);
  EXPECT_EQ(rows(manager, Status::active).size(), 1U);
}

TEST(LostAnswer, ToASessionLockThatWaitsLeavesNoPlaceInTheQueue) {
  SmallWorld world;
  FaultyStore store(*world.store);
  Policy policy = profile_named("session")->policy;
  policy.waiting_allowed = true;
  LeaseManager manager(Environment{world.probe, world.random}, store, kWorkspace, policy);
  ASSERT_NE(as<Granted>(manager.acquire(asking(ann(), {"/a"}))), nullptr);

  store.lose_answers(1);
  EXPECT_EQ(manager.acquire_and_wait(waiting(bob(), {"/a"})).error().code, Code::unavailable);

  EXPECT_TRUE(rows(manager, Status::pending).empty());
  ASSERT_TRUE(manager.release(releasing(ann(), "/a")));
  EXPECT_TRUE(rows(manager, Status::active).empty());
}

TEST(UnreachableStore, IsSaidAndChangesNothing) {
  SmallWorld world;
  FaultyStore store(*world.store);
  LeaseManager manager = manager_on(world, store);
  ASSERT_NE(as<Granted>(manager.acquire(asking(ann(), {"/a"}))), nullptr);
  const std::string before = world.everything();

  store.be_unavailable(true);
  EXPECT_EQ(manager.acquire(asking(ann(), {"/b"})).error().code, Code::unavailable);
  EXPECT_EQ(manager.acquire_and_wait(waiting(ann(), {"/b"})).error().code, Code::unavailable);
  EXPECT_EQ(manager.release(releasing(ann(), "/a")).error().code, Code::unavailable);
  EXPECT_EQ(manager.check(caller(ann()), "/a", Token{}).error().code, Code::unavailable);
  EXPECT_EQ(manager.board().error().code, Code::unavailable);
  EXPECT_EQ(manager.sweep(true).error().code, Code::unavailable);
  store.be_unavailable(false);

  EXPECT_EQ(world.everything(), before);
}

// A thousand waiters whose processes are seen are due for a look all the time; that is no reason to
// look for ever.
TEST(Sweep, EndsThoughThousandsWaitWithoutASignOfLife) {
  SmallWorld world;
  Policy policy;
  policy.waiters_per_path_max = 10'000;
  LeaseManager manager({world.probe, world.random}, *world.store, kWorkspace, policy);
  AcquireRequest held = asking(ann(), {"/a"});
  held.ttl = 1h;
  ASSERT_NE(as<Granted>(manager.acquire(held)), nullptr);
  world.probe.tell(process(1), Liveness::alive);
  const auto queued =
      world.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
        for (int number = 1; number <= 1'100; ++number) {
          Ticket ticket = make_ticket(number, {"/a"}, {"agent-" + std::to_string(number), ""});
          ticket.request.own().caller.holder.process = process(1);
          ticket.wait_until = world.clock.now() + 1h;
          transaction.put(ticket);
        }
        return {};
      });
  ASSERT_TRUE(queued);
  world.clock.advance(1min);

  const auto swept = manager.sweep();

  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->dropped, 0U);
}

// As where something else was restored or deleted in a store than all of it.
TEST(DamagedStore, AWaitThatLooksOpenDoesNotTakeAlongWhatItGot) {
  SmallWorld world;
  const Lease got = make_lease(1, "/a", bob());
  Ticket ticket = make_ticket(1, {"/a"}, bob());
  ticket.leases = {got.id};
  ASSERT_TRUE(world.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
    transaction.put(got);
    transaction.put(ticket);
    return {};
  }));
  world.clock.advance(2min);  // Nobody waits so long.

  ASSERT_TRUE(world.manager.sweep());

  EXPECT_TRUE(world.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    EXPECT_EQ(view.ticket(ticket.id)->status, Status::failed);
    EXPECT_EQ(view.lease(got.id)->status, Status::active);
    return {};
  }));
}

}  // namespace
}  // namespace leasehold
