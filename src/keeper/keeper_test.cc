// The threads around the state: what hangs, what fails, who calls whom. All waits have an end, and nothing is
// decided by how long something takes.
#include "leasehold/keeper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "keeper/scripted_client.h"
#include "support/manual_local_clock.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTtl = 5min;

// What a keeper told, in order. Thread-safe.
class Heard {
 public:
  void operator()(const KeeperEvent& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    changed_.notify_all();
  }

  // The first event of that kind; waits for it, and fails after far too long.
  std::optional<KeeperEvent> wait_for(KeeperEventType type) {
    std::unique_lock lock(mutex_);
    const auto found = [&] { return std::ranges::find(events_, type, &KeeperEvent::type); };
    changed_.wait_for(lock, kFarTooLong, [&] { return found() != events_.end(); });
    if (found() == events_.end()) return std::nullopt;
    return *found();
  }

  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return events_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<KeeperEvent> events_;
};

// Waits for something that must come to be; false: it did not.
template <class Condition>
bool eventually(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kFarTooLong;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

struct Bench {
  std::shared_ptr<ScriptedClient> client = std::make_shared<ScriptedClient>();
  std::shared_ptr<ManualLocalClock> clock = std::make_shared<ManualLocalClock>();
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();

  static Caller as_ann() {
    Caller caller;
    caller.holder.owner = ann();
    return caller;
  }

  static AcquireRequest asking(std::initializer_list<const char*> paths) {
    AcquireRequest request;
    request.caller = as_ann();
    request.ttl = kTtl;
    for (const char* path : paths) {
      WantedPath wanted;
      wanted.path = path;
      request.paths.push_back(wanted);
    }
    return request;
  }

  std::unique_ptr<Keeper> start(Duration stop_grace = kFarTooLong) {
    return start([heard = heard](const KeeperEvent& event) { (*heard)(event); }, stop_grace);
  }

  std::unique_ptr<Keeper> start(std::function<void(const KeeperEvent&)> on_event,
                                Duration stop_grace = kFarTooLong) {
    auto keeper = Keeper::start(client, as_ann(), {std::move(on_event), clock, stop_grace});
    return keeper ? *std::move(keeper) : nullptr;
  }

  // Until it is past any renewal's time, and before any lease's end.
  void pass_renewal_time() { clock->advance(kTtl / 2); }

  // Waits until the keeper's threads have nothing to do before time passes.
  bool settle() {
    return eventually([&] { return clock->is_waited_for_by(2); });
  }
};

std::vector<Lease> leases_of(const Result<AcquireAnswer>& answer) {
  const Granted* granted = answer ? std::get_if<Granted>(&answer->decision) : nullptr;
  return granted == nullptr ? std::vector<Lease>{} : granted->leases;
}

TEST(Keeper, RenewsWhenItIsTime) {
  Bench bench;
  const auto keeper = bench.start();
  const std::vector<Lease> leases = leases_of(keeper->acquire(Bench::asking({"/a", "/b"})));
  ASSERT_EQ(leases.size(), 2U);
  EXPECT_TRUE(keeper->is_valid(leases[0].id));
  EXPECT_EQ(keeper->use("/b"), leases[1].token);

  bench.pass_renewal_time();

  const auto renewed = bench.heard->wait_for(KeeperEventType::renewed);
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->count, 2U);
  EXPECT_EQ(bench.client->renewals(), 1);
  bench.clock->advance(kTtl * 3 / 4);  // Past the first deadline, not past the second.
  EXPECT_TRUE(keeper->is_valid(leases[0].id));
  EXPECT_EQ(keeper->kept().size(), 2U);
}

// The renewal hangs, and so does whoever listens: no thread of the keeper can do anything.
TEST(Keeper, IsNotBelievedPastTheDeadlineWhenEveryThreadHangs) {
  Bench bench;
  Door ear;
  const auto keeper = bench.start([&ear](const KeeperEvent&) { ear.pass(); });
  const std::vector<Lease> leases = leases_of(keeper->acquire(Bench::asking({"/a"})));
  ASSERT_EQ(leases.size(), 1U);
  ear.shut();
  bench.pass_renewal_time();
  ASSERT_TRUE(ear.is_waited_at());  // It listens to a first renewal,
  bench.client->door.shut();
  bench.clock->advance(kTtl / 2);
  ASSERT_TRUE(bench.client->door.is_waited_at());  // while a second one hangs.
  ASSERT_TRUE(keeper->is_valid(leases[0].id));

  bench.clock->advance(kTtl / 2);

  EXPECT_FALSE(keeper->is_valid(leases[0].id));
  EXPECT_EQ(keeper->time_left(leases[0].id), 0ms);
  EXPECT_EQ(keeper->use("/a").error().code, Code::lost);
  ear.open();
  bench.client->door.open();
}

TEST(Keeper, CountsFromBeforeACallHoweverLongItTakes) {
  Bench bench;
  const auto keeper = bench.start();
  bench.client->door.shut();
  std::vector<Lease> leases;
  std::thread acquires([&] { leases = leases_of(keeper->acquire(Bench::asking({"/a"}))); });
  const bool came = bench.client->door.is_waited_at();
  bench.clock->advance(30s);
  bench.client->door.open();
  acquires.join();
  ASSERT_TRUE(came);
  ASSERT_EQ(leases.size(), 1U);
  const Duration good = kTtl - 6010ms;
  EXPECT_EQ(keeper->time_left(leases[0].id), good - 30s);

  ASSERT_TRUE(bench.settle());
  bench.client->door.shut();
  bench.pass_renewal_time();
  ASSERT_TRUE(bench.client->door.is_waited_at());
  bench.clock->advance(40s);
  bench.client->door.open();
  ASSERT_TRUE(bench.heard->wait_for(KeeperEventType::renewed));

  EXPECT_EQ(keeper->time_left(leases[0].id), good - 40s);
}

TEST(Keeper, TellsOfTheDeadlineWhileACallHangs) {
  Bench bench;
  const auto keeper = bench.start();
  ASSERT_EQ(leases_of(keeper->acquire(Bench::asking({"/a"}))).size(), 1U);
  bench.client->door.shut();
  bench.pass_renewal_time();
  ASSERT_TRUE(bench.client->door.is_waited_at());

  bench.clock->advance(kTtl);

  EXPECT_TRUE(bench.heard->wait_for(KeeperEventType::expired));
  // The answer comes at last: too late to count, but the next one does.
  bench.client->door.open();
  ASSERT_TRUE(bench.settle());
  bench.clock->advance(10s);
  EXPECT_TRUE(bench.heard->wait_for(KeeperEventType::recovered));
}

TEST(Keeper, GetsBackWhatItHadAfterAnOutageAndTellsWhatItCouldNot) {
  Bench bench;
  const auto keeper = bench.start();
  const std::vector<Lease> a = leases_of(keeper->acquire(Bench::asking({"/a"})));
  const std::vector<Lease> b = leases_of(keeper->acquire(Bench::asking({"/b"})));
  ASSERT_EQ(a.size() + b.size(), 2U);
  bench.client->be_unreachable(true);
  bench.pass_renewal_time();
  ASSERT_TRUE(bench.heard->wait_for(KeeperEventType::missed));
  bench.clock->advance(kTtl);
  ASSERT_TRUE(bench.heard->wait_for(KeeperEventType::expired));
  EXPECT_FALSE(keeper->is_valid(a[0].id));
  ASSERT_TRUE(bench.settle());

  bench.client->end(a[0], EndCause::expired);
  bench.client->end(b[0], EndCause::expired);
  bench.client->let_somebody_have("/b");
  bench.client->be_unreachable(false);
  bench.clock->advance(1min);

  const auto recovered = bench.heard->wait_for(KeeperEventType::recovered);
  ASSERT_TRUE(recovered);
  EXPECT_EQ(recovered->previous, a[0].id);
  EXPECT_TRUE(keeper->is_valid(recovered->lease->id));
  EXPECT_EQ(keeper->use("/a"), recovered->lease->token);
  const auto gone = bench.heard->wait_for(KeeperEventType::could_not_recover);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->lease->path, "/b");
  ASSERT_EQ(gone->blocked.size(), 1U);
  EXPECT_EQ(gone->blocked[0].holder.owner, bob());
  EXPECT_EQ(keeper->use("/b").error().code, Code::not_found);
}

TEST(Keeper, TellsOfALossAndItsCause) {
  Bench bench;
  const auto keeper = bench.start();
  const std::vector<Lease> leases = leases_of(keeper->acquire(Bench::asking({"/a"})));
  ASSERT_EQ(leases.size(), 1U);
  bench.client->end(leases[0], EndCause::forced);

  bench.pass_renewal_time();

  const auto lost = bench.heard->wait_for(KeeperEventType::lost);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->cause, EndCause::forced);
  EXPECT_TRUE(keeper->kept().empty());
}

// One grant took so long to come that it may be over; a renewal decides before anybody relies on it.
TEST(Keeper, ConfirmsAGrantThatMayBeOld) {
  Bench bench;
  const auto keeper = bench.start();
  AcquireRequest request = Bench::asking({"/a"});
  request.wait = 10min;
  bench.client->door.shut();
  Result<AcquireAnswer> answer = fail(Code::unavailable, "not yet");
  std::thread waits([&] { answer = keeper->acquire(request); });
  const bool came = bench.client->door.is_waited_at();
  bench.clock->advance(8min);
  bench.client->door.open();
  waits.join();

  ASSERT_TRUE(came);
  ASSERT_EQ(leases_of(answer).size(), 1U);
  EXPECT_EQ(bench.client->renewals(), 1);
  EXPECT_TRUE(keeper->is_valid(leases_of(answer)[0].id));
}

TEST(Keeper, CountsAnAddedGrantFromWhenItWasAskedFor) {
  Bench bench;
  bench.client->door.shut();  // No renewal may help.
  const auto keeper = bench.start(0ms);
  Lease lease = make_lease(1, "/a");
  const Granted granted = {.leases = {lease}};

  keeper->add(Bench::asking({"/a"}), granted, bench.clock->now() - 1min);
  EXPECT_LT(keeper->time_left(lease.id), 4min);
  EXPECT_GT(keeper->time_left(lease.id), 3min);
  Lease other = make_lease(2, "/b");
  keeper->add(Bench::asking({"/b"}), {.leases = {other}});
  EXPECT_FALSE(keeper->is_valid(other.id));

  bench.client->door.open();
}

TEST(Keeper, ReleasesWhatItNoLongerBelieves) {
  Bench bench;
  const auto keeper = bench.start();
  const std::vector<Lease> leases = leases_of(keeper->acquire(Bench::asking({"/a"})));
  ASSERT_EQ(leases.size(), 1U);
  bench.client->door.shut();

  std::thread releases([&] { EXPECT_TRUE(keeper->release({leases[0].id})); });
  const bool came = bench.client->door.is_waited_at();
  EXPECT_FALSE(keeper->is_valid(leases[0].id));  // Before the store knows.
  bench.client->door.open();
  releases.join();

  EXPECT_TRUE(came);
  EXPECT_EQ(bench.client->released(), std::vector{leases[0].id.text});
}

TEST(Keeper, MayBeCalledByItsListener) {
  Bench bench;
  std::atomic<Keeper*> keeper = nullptr;
  std::atomic<int> calls = 0;
  const auto owned = bench.start([&](const KeeperEvent&) {
    Keeper* const self = keeper;
    for (const Lease& lease : self->kept()) (void)self->is_valid(lease.id);
    (void)self->use("/a");
    (void)self->acquire(Bench::asking({"/c"}));
    self->remove({});
    ++calls;
  });
  keeper = owned.get();
  ASSERT_EQ(leases_of(owned->acquire(Bench::asking({"/a"}))).size(), 1U);

  bench.pass_renewal_time();

  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  EXPECT_TRUE(owned->use("/c"));
}

TEST(Keeper, MayBeStoppedByItsListener) {
  Bench bench;
  std::atomic<Keeper*> keeper = nullptr;
  std::atomic<int> calls = 0;
  const auto owned = bench.start([&](const KeeperEvent&) {
    keeper.load()->stop();
    ++calls;
  });
  keeper = owned.get();
  ASSERT_EQ(leases_of(owned->acquire(Bench::asking({"/a"}))).size(), 1U);

  bench.pass_renewal_time();
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  bench.clock->advance(kTtl);
  owned->stop();

  EXPECT_EQ(calls, 1);
}

TEST(Keeper, MayBeDestroyedByItsListener) {
  Bench bench;
  auto keeper = std::make_shared<std::unique_ptr<Keeper>>();
  auto ready = std::make_shared<Door>();
  auto gone = std::make_shared<std::atomic<bool>>(false);
  ready->shut();
  *keeper = bench.start([keeper, ready, gone](const KeeperEvent&) {
    ready->pass();
    keeper->reset();
    *gone = true;
  });
  ASSERT_EQ(leases_of((*keeper)->acquire(Bench::asking({"/a"}))).size(), 1U);

  bench.pass_renewal_time();
  ready->open();

  EXPECT_TRUE(eventually([&] { return gone->load(); }));
}

TEST(Keeper, StopsWhileItWaits) {
  Bench bench;
  auto keeper = bench.start();
  const std::vector<Lease> leases = leases_of(keeper->acquire(Bench::asking({"/a"})));
  ASSERT_EQ(leases.size(), 1U);

  keeper->stop();
  keeper->stop();

  // The lease is what it is, for as long as it is.
  EXPECT_TRUE(keeper->is_valid(leases[0].id));
  const std::size_t told = bench.heard->count();
  bench.clock->advance(kTtl);
  EXPECT_FALSE(keeper->is_valid(leases[0].id));
  EXPECT_EQ(bench.client->renewals(), 0);
  EXPECT_EQ(bench.heard->count(), told);
}

TEST(Keeper, StopsForSeveralAtOnce) {
  Bench bench;
  const auto keeper = bench.start();

  std::vector<std::thread> stoppers;
  for (int i = 0; i < 4; ++i) stoppers.emplace_back([&] { keeper->stop(); });
  for (std::thread& stopper : stoppers) stopper.join();
}

// The keeper goes away, its thread does not: the client must live until the call is over, and no longer.
TEST(Keeper, LeavesAThreadThatHangsBehindAndTheClientWithIt) {
  std::atomic<int> alive = 0;
  Bench bench;
  bench.client = std::make_shared<ScriptedClient>(&alive);
  // The door must outlive whoever waits at it: so does the client, which the thread shares.
  std::weak_ptr<ScriptedClient> client = bench.client;
  auto keeper = bench.start(0ms);
  ASSERT_EQ(leases_of(keeper->acquire(Bench::asking({"/a"}))).size(), 1U);
  bench.client->door.shut();
  bench.pass_renewal_time();
  ASSERT_TRUE(bench.client->door.is_waited_at());

  bench.client.reset();
  keeper.reset();  // Returns, though the call does not.

  EXPECT_EQ(alive, 1);
  if (const auto still = client.lock()) still->door.open();
  EXPECT_TRUE(eventually([&] { return alive == 0; }));
}

TEST(Keeper, WaitsForACallThatIsUnderWay) {
  Bench bench;
  auto keeper = bench.start();
  ASSERT_EQ(leases_of(keeper->acquire(Bench::asking({"/a"}))).size(), 1U);
  bench.client->door.shut();
  bench.pass_renewal_time();
  ASSERT_TRUE(bench.client->door.is_waited_at());

  std::thread opens([&] { bench.client->door.open(); });
  keeper.reset();
  opens.join();

  EXPECT_EQ(bench.client.use_count(), 1);  // Nobody was left behind.
}

// For ThreadSanitizer: everything at once.
TEST(Keeper, IsThreadSafe) {
  Bench bench;
  const auto keeper = bench.start();
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (const char* path : {"/a", "/b", "/c"}) {
    threads.emplace_back([&, path] {
      while (!done) {
        const std::vector<Lease> leases = leases_of(keeper->acquire(Bench::asking({path})));
        (void)keeper->use(path);
        (void)keeper->kept();
        if (leases.empty()) continue;
        (void)keeper->time_left(leases[0].id);
        (void)keeper->release({leases[0].id});
      }
    });
  }
  ASSERT_EQ(leases_of(keeper->acquire(Bench::asking({"/d"}))).size(), 1U);

  for (int round = 0; round < 20; ++round) {
    bench.client->be_unreachable(round % 4 == 3);
    const int before = bench.client->renewals();
    EXPECT_TRUE(eventually([&] {
      bench.clock->advance(10s);
      return bench.client->renewals() > before;
    }));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(Keeper, WorksOnTheRealClock) {
  auto client = std::make_shared<ScriptedClient>();
  auto heard = std::make_shared<Heard>();
  auto keeper = Keeper::start(client, Bench::as_ann(),
                              {.on_event = [heard](const KeeperEvent& event) { (*heard)(event); }});
  ASSERT_TRUE(keeper);
  AcquireRequest request = Bench::asking({"/a"});
  request.ttl = 2s;
  ASSERT_EQ(leases_of((*keeper)->acquire(request)).size(), 1U);

  EXPECT_TRUE(heard->wait_for(KeeperEventType::renewed));
}

}  // namespace
}  // namespace leasehold
