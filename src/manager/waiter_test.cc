// How a request waits, one look after the other.
#include "manager/waiter.h"

#include <gtest/gtest.h>

#include "manager/lease_manager.h"
#include "support/faulty_store.h"
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

}  // namespace
}  // namespace leasehold
