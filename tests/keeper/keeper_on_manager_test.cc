// A keeper's calls as the real engine answers them.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "leasehold/keeper.h"
#include "support/faulty_store.h"
#include "support/manual_local_clock.h"
#include "support/small_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr auto kFarTooLong = 60s;

// A lease manager on a memory store that can be made unreachable, and on a clock that is moved by hand.
struct ManagerWorld {
  std::size_t renewals_in_history() {
    const auto history = manager.history({});
    return history ? static_cast<std::size_t>(std::ranges::count(*history, EventType::renewed, &Event::type))
                   : 0;
  }

  SmallWorld world;
  FaultyStore store{*world.store};
  LeaseManager manager{{world.probe, world.random}, store, kWorkspace, Policy{}};
};

Caller as(const Owner& owner) {
  Caller caller;
  caller.holder.owner = owner;
  return caller;
}

AcquireRequest asking(const Owner& owner, const std::vector<std::string>& paths) {
  AcquireRequest request;
  request.caller = as(owner);
  request.ttl = 5min;
  request.reason = "work";
  for (const std::string& path : paths) {
    WantedPath wanted;
    wanted.path = path;
    request.paths.push_back(wanted);
  }
  return request;
}

class KeeperOnManager : public testing::Test {
 protected:
  KeeperOnManager() {
    KeeperOptions options;
    options.clock = clock_;
    options.on_event = [this](const KeeperEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    };
    auto keeper =
        Keeper::start(std::shared_ptr<Client>(world_, &world_->manager), as(ann()), std::move(options));
    if (keeper) keeper_ = *std::move(keeper);
  }

  std::vector<Lease> acquire(const std::vector<std::string>& paths) {
    const auto answer = keeper_->acquire(asking(ann(), paths));
    const Granted* granted = answer ? std::get_if<Granted>(&answer->decision) : nullptr;
    return granted == nullptr ? std::vector<Lease>{} : granted->leases;
  }

  bool bob_gets(const std::string& path) {
    const auto answer = world_->manager.acquire(asking(bob(), {path}));
    return answer && std::holds_alternative<Granted>(answer->decision);
  }

  // Time passes everywhere, and the keeper does all that it has to.
  void pass(std::chrono::seconds time) {
    constexpr auto kStep = 10s;
    for (auto passed = 0s; passed < time; passed += kStep) {
      world_->world.clock.advance(kStep);
      clock_->advance(kStep);
      ASSERT_TRUE(settle());
    }
  }

  bool settle() {
    const auto deadline = std::chrono::steady_clock::now() + kFarTooLong;
    while (!clock_->is_waited_for_by(2)) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::vector<KeeperEvent> told(KeeperEventType type) {
    const std::lock_guard lock(mutex_);
    std::vector<KeeperEvent> found;
    std::ranges::copy_if(events_, std::back_inserter(found),
                         [&](const KeeperEvent& event) { return event.type == type; });
    return found;
  }

  std::shared_ptr<ManagerWorld> world_ = std::make_shared<ManagerWorld>();
  std::shared_ptr<ManualLocalClock> clock_ = std::make_shared<ManualLocalClock>();
  std::mutex mutex_;
  std::vector<KeeperEvent> events_;
  std::unique_ptr<Keeper> keeper_;  // Last: it tells until it is gone.
};

TEST_F(KeeperOnManager, KeepsAllLeasesForHoursWithOneLineOfHistoryEachTime) {
  const std::vector<Lease> leases = acquire({"/a", "/b", "/c"});
  ASSERT_EQ(leases.size(), 3U);

  pass(2h);

  for (const Lease& lease : leases) EXPECT_TRUE(keeper_->is_valid(lease.id));
  EXPECT_FALSE(bob_gets("/b"));
  EXPECT_EQ(keeper_->use("/b"), leases[1].token);
  EXPECT_TRUE(told(KeeperEventType::expired).empty());
  // Every 110 to 140 s.
  EXPECT_GE(world_->renewals_in_history(), 51U);
  EXPECT_LE(world_->renewals_in_history(), 66U);
}

TEST_F(KeeperOnManager, LosesThemToOthersOnlyAfterItKnewThatTheyWereOver) {
  const std::vector<Lease> a = acquire({"/a"});
  const std::vector<Lease> b = acquire({"/b"});
  ASSERT_EQ(a.size() + b.size(), 2U);
  pass(10min);
  world_->store.be_unavailable(true);
  pass(5min);  // Longer than since the last renewal.
  EXPECT_FALSE(keeper_->is_valid(a[0].id));
  EXPECT_EQ(told(KeeperEventType::expired).size(), 2U);

  pass(1min);
  world_->store.be_unavailable(false);
  ASSERT_TRUE(bob_gets("/b"));
  pass(1min);

  EXPECT_TRUE(keeper_->use("/a"));
  EXPECT_EQ(keeper_->use("/b").error().code, Code::not_found);
  ASSERT_EQ(told(KeeperEventType::recovered).size(), 1U);
  EXPECT_EQ(told(KeeperEventType::recovered)[0].previous, a[0].id);
  EXPECT_GT(told(KeeperEventType::recovered)[0].lease->token, a[0].token);
  ASSERT_EQ(told(KeeperEventType::could_not_recover).size(), 1U);
  ASSERT_EQ(told(KeeperEventType::could_not_recover)[0].blocked.size(), 1U);
  EXPECT_EQ(told(KeeperEventType::could_not_recover)[0].blocked[0].holder.owner, bob());
  EXPECT_EQ(keeper_->kept().size(), 1U);
  EXPECT_EQ(keeper_->kept()[0].reason, "work");
}

TEST_F(KeeperOnManager, GetsAWholeGrantBackOrNothingOfIt) {
  ASSERT_EQ(acquire({"/a", "/b"}).size(), 2U);
  world_->store.be_unavailable(true);
  pass(6min);
  world_->store.be_unavailable(false);
  ASSERT_TRUE(bob_gets("/b"));

  pass(1min);

  EXPECT_EQ(told(KeeperEventType::could_not_recover).size(), 2U);
  EXPECT_TRUE(told(KeeperEventType::recovered).empty());
  EXPECT_TRUE(bob_gets("/a"));
}

TEST_F(KeeperOnManager, TellsWhoTookALeaseAwayAndDoesNotTakeItBack) {
  const std::vector<Lease> a = acquire({"/a"});
  const std::vector<Lease> b = acquire({"/b"});
  ASSERT_EQ(a.size() + b.size(), 2U);
  ForceReleaseRequest force = {.actor = "olga", .reason = "release day"};
  force.which.paths = {"/a"};
  ASSERT_TRUE(world_->manager.force_release(force));
  TransferRequest transfer = {.caller = as(ann()), .note = "yours"};
  transfer.which.paths = {"/b"};
  transfer.to.owner = bob();
  ASSERT_TRUE(world_->manager.transfer(transfer));

  pass(3min);

  std::vector<EndCause> causes;
  for (const KeeperEvent& event : told(KeeperEventType::lost)) causes.push_back(event.cause);
  std::ranges::sort(causes);
  EXPECT_EQ(causes, (std::vector{EndCause::forced, EndCause::transferred}));
  EXPECT_TRUE(told(KeeperEventType::recovered).empty());
  EXPECT_TRUE(keeper_->kept().empty());
}

TEST_F(KeeperOnManager, LetsALeaseRunOutThatItKeepsNoMore) {
  const std::vector<Lease> leases = acquire({"/a", "/b"});
  ASSERT_EQ(leases.size(), 2U);

  keeper_->remove({leases[0].id});
  pass(20min);  // Two renewals may still mean all leases of the owner.

  EXPECT_TRUE(bob_gets("/a"));
  EXPECT_FALSE(bob_gets("/b"));
}

TEST_F(KeeperOnManager, ReleasesForOthers) {
  const std::vector<Lease> leases = acquire({"/a"});
  ASSERT_EQ(leases.size(), 1U);

  ASSERT_TRUE(keeper_->release({leases[0].id}));

  EXPECT_FALSE(keeper_->is_valid(leases[0].id));
  EXPECT_TRUE(bob_gets("/a"));
}

}  // namespace
}  // namespace leasehold
