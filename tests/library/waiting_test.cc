// Blocking and concurrent acquires, as threads of one program and as programs on one store make them.
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "library/library_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

using Waiting = Library;
INSTANTIATE_TEST_SUITE_P(Stores, Waiting, testing::ValuesIn(available_stores()), store_of);

AcquireRequest waiting(const Owner& owner, std::initializer_list<const char*> paths) {
  AcquireRequest request = asking(owner, paths);
  request.wait = 10min;
  return request;
}

// True once so many wait. Bounded: ten minutes are for ever.
bool wait_for_waiters(Client& client, std::size_t count) {
  const auto end = std::chrono::steady_clock::now() + 10min;
  while (std::chrono::steady_clock::now() < end) {
    std::size_t waiters = 0;
    const auto board = client.board();
    if (!board) return false;
    for (const BoardRow& row : board->rows) waiters += row.lease.status == Status::pending ? 1 : 0;
    if (waiters >= count) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

// test_blocking_acquisition
TEST_P(Waiting, ABlockedAcquireGoesOnWhenTheFileIsReleased) {
  const Lease held = acquire(ann(), "/a");
  const auto other = open();
  Result<AcquireAnswer> answer;
  std::thread waiter([&] { answer = other->acquire_and_wait(waiting(bob(), {"/a"})); });
  ASSERT_TRUE(wait_for_waiters(client(), 1));

  clock.advance(3s);
  release(ann(), held);
  waiter.join();

  EXPECT_EQ(granted(answer).holder.owner, bob());
  EXPECT_EQ(std::get<Granted>(answer->decision).waited, 3s);
}

TEST_P(Waiting, ABlockedAcquireEndsWhenItIsCancelled) {
  acquire(ann(), "/a");
  const int cancelled = ::eventfd(0, EFD_CLOEXEC);
  Result<AcquireAnswer> answer;
  std::thread waiter([&] { answer = client().acquire_and_wait(waiting(bob(), {"/a"}), cancelled); });
  ASSERT_TRUE(wait_for_waiters(client(), 1));

  EXPECT_EQ(::eventfd_write(cancelled, 1), 0);
  waiter.join();
  ::close(cancelled);

  ASSERT_NE(refused(answer), nullptr);
  EXPECT_EQ(refused(answer)->code, Code::lost);
  EXPECT_EQ(client().board({.agent_id = bob().agent_id})->rows.size(), 0U);
}

TEST_P(Waiting, ABlockedAcquireTimesOutWithWhatItWaitedFor) {
  acquire(ann(), "/a");
  AcquireRequest request = waiting(bob(), {"/a"});
  request.wait = 1min;
  Result<AcquireAnswer> answer;
  std::thread waiter([&] { answer = client().acquire_and_wait(request); });
  ASSERT_TRUE(wait_for_waiters(client(), 1));

  clock.advance(1min);
  waiter.join();

  ASSERT_NE(refused(answer), nullptr);
  EXPECT_EQ(refused(answer)->code, Code::timeout);
  EXPECT_EQ(refused(answer)->waited, 1min);
}

TEST_P(Waiting, IsRefusedWhereItIsSwitchedOff) {
  Policy policy;
  policy.waiting_allowed = false;

  EXPECT_EQ(open(policy)->acquire(waiting(ann(), {"/a"})).error().code, Code::invalid_argument);
}

// test_concurrent_acquisitions; and atomic behaviour with conflicting requests.
TEST_P(Waiting, OfManyWhoAskAtOnceOneGetsEachFileAndNobodyHalf) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 25;
  std::atomic<int> both = 0;
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto mine = open();
      const Owner owner = {"agent-" + std::to_string(i), ""};
      for (int round = 0; round < kRounds; ++round) {
        // In both orders: whoever took them one by one would meet the other half way.
        AcquireRequest request = i % 2 == 0 ? waiting(owner, {"/a", "/b"}) : waiting(owner, {"/b", "/a"});
        const auto answer = mine->acquire_and_wait(request);
        const auto* mine_now = answer ? std::get_if<Granted>(&answer->decision) : nullptr;
        ASSERT_NE(mine_now, nullptr);
        ASSERT_EQ(mine_now->leases.size(), 2U);
        if (inside.fetch_add(1) != 0) ++both;
        inside.fetch_sub(1);
        ReleaseRequest back = {.caller = caller(owner)};
        back.which.all = true;
        ASSERT_TRUE(mine->release(back));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(both, 0) << "two were inside at once";
  EXPECT_EQ(client().leases()->size(), 0U);
}

TEST_P(Waiting, ThreadsMayShareOneManager) {
  constexpr int kThreads = 6;
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const Owner owner = {"agent-" + std::to_string(i), ""};
      const auto answer = client().acquire(asking(owner, {"/one"}));
      if (answer && std::holds_alternative<Granted>(answer->decision)) ++winners;
      const std::string own = "/own/" + std::to_string(i);
      EXPECT_TRUE(client().acquire(asking(owner, {own.c_str()})));
      EXPECT_TRUE(client().board());
      EXPECT_TRUE(client().events(0));
      EXPECT_TRUE(client().put_setting({.key = "note", .value = std::to_string(i)}));
      RenewRequest all = {.caller = caller(owner)};
      all.which.all = true;
      EXPECT_TRUE(client().renew(all));
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(winners, 1);
  EXPECT_EQ(client().leases()->size(), kThreads + 1U);
}

}  // namespace
}  // namespace leasehold
