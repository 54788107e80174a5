#include "engine/deadlock.h"

#include <gtest/gtest.h>

#include "support/small_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

Owner agent(int number) { return {"agent-" + std::to_string(number), ""}; }

std::string file(int number) { return "/file-" + std::to_string(number); }

AcquireRequest asking_for(const Owner& owner, const std::string& path, bool wait) {
  AcquireRequest request = asking(owner, {path.c_str()});
  if (wait) request.wait = 1min;
  return request;
}

template <class Kind>
bool is(const Result<AcquireAnswer>& answer) {
  return answer && std::holds_alternative<Kind>(answer->decision);
}

// agent-0 holds file-0, agent-1 holds file-1 ... and each but the last waits for the next one's.
void make_chain(SmallWorld& world, int length) {
  for (int i = 0; i < length; ++i)
    ASSERT_TRUE(is<Granted>(world.manager.acquire(asking_for(agent(i), file(i), false))));
  for (int i = 0; i + 1 < length; ++i) {
    ASSERT_TRUE(is<Queued>(world.manager.acquire(asking_for(agent(i), file(i + 1), true)))) << i;
  }
}

TEST(Deadlock, ACycleIsNamedFromTheAskerOnEachWaitingForTheNext) {
  SmallWorld world;
  make_chain(world, 3);
  Ticket asking = make_ticket(1, {file(0)}, agent(2));
  asking.sequence = {UINT64_MAX};
  const Policy policy;
  const Verdicts verdicts(out_of_sight);

  std::vector<WaitEdge> cycle;
  const auto looked = world.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    const Context context{policy, verdicts, world.random};
    cycle = find_cycle(view, context, asking, survey(view, context, asking.request));
    return {};
  });

  ASSERT_TRUE(looked);
  ASSERT_EQ(cycle.size(), 3U);
  EXPECT_EQ(cycle.front().waiter, agent(2));
  for (std::size_t i = 0; i < cycle.size(); ++i)
    EXPECT_EQ(cycle[i].holder, cycle[(i + 1) % cycle.size()].waiter);
  EXPECT_EQ(describe(cycle),
            "agent-2 waits for /file-0 held by agent-0, agent-0 waits for /file-1 held by agent-1, "
            "agent-1 waits for /file-2 held by agent-2");
}

// A fleet is large, and nobody's stack may end for it.
TEST(Deadlock, ALongChainIsFollowedToItsEnd) {
  constexpr int kLength = 300;
  SmallWorld world;
  make_chain(world, kLength);

  const auto open = world.manager.acquire(asking_for(agent(kLength), file(0), true));
  EXPECT_TRUE(is<Queued>(open));
  const auto closed = world.manager.acquire(asking_for(agent(kLength - 1), file(0), true));
  ASSERT_TRUE(is<Refused>(closed));
  EXPECT_EQ(std::get<Refused>(closed->decision).code, Code::deadlock);
}

// Everybody waits for everybody before it: the number of ways doubles with each, the work must not.
TEST(Deadlock, ManyWaysToTheSameWaiterAreFollowedOnce) {
  constexpr int kLength = 20;
  SmallWorld world;
  for (int i = 0; i < kLength; ++i)
    ASSERT_TRUE(is<Granted>(world.manager.acquire(asking_for(agent(i), file(i), false))));
  for (int i = 1; i < kLength; ++i) {
    AcquireRequest request = asking_for(agent(i), file(0), true);
    for (int j = 1; j < i; ++j) {
      request.paths.push_back(request.paths.front());
      request.paths.back().path = file(j);
    }
    ASSERT_TRUE(is<Queued>(world.manager.acquire(request))) << i;
  }
}

TEST(Deadlock, AWaiterThatGaveNoSignOfLifeClosesNoCycle) {
  SmallWorld world;
  ASSERT_TRUE(is<Granted>(world.manager.acquire(asking_for(ann(), "/a", false))));
  ASSERT_TRUE(is<Granted>(world.manager.acquire(asking_for(bob(), "/b", false))));
  ASSERT_TRUE(is<Queued>(world.manager.acquire(asking_for(ann(), "/b", true))));

  world.clock.advance(Policy{}.waiter_silence);

  EXPECT_TRUE(is<Queued>(world.manager.acquire(asking_for(bob(), "/a", true))));
}

// cyd's two requests wait for different owners; only one of them has become part of a cycle.
TEST(Deadlock, OnlyTheWaitThatIsInTheCycleEnds) {
  const Owner cyd = {"cyd", ""};
  SmallWorld world;
  AcquireRequest held = asking(ann(), {"/x", "/y"});
  ASSERT_TRUE(is<Granted>(world.manager.acquire(held)));
  AcquireRequest both = asking(bob(), {"/x", "/z"});
  both.wait = 1min;
  ASSERT_TRUE(is<Queued>(world.manager.acquire(both)));
  const auto in_cycle = world.manager.acquire(asking_for(cyd, "/x", true));
  const auto beside = world.manager.acquire(asking_for(cyd, "/y", true));
  ASSERT_TRUE(is<Queued>(in_cycle) && is<Queued>(beside));

  // By its priority cyd passes bob, who waits for /z from now on too: and cyd waits for bob.
  AcquireRequest passing = asking_for(cyd, "/z", false);
  passing.priority = 1;
  ASSERT_TRUE(is<Granted>(world.manager.acquire(passing)));

  const auto first = world.manager.poll(caller(cyd), std::get<Queued>(in_cycle->decision).ticket);
  const auto second = world.manager.poll(caller(cyd), std::get<Queued>(beside->decision).ticket);
  ASSERT_TRUE(is<Refused>(first));
  EXPECT_EQ(std::get<Refused>(first->decision).code, Code::deadlock);
  EXPECT_TRUE(is<Queued>(second));
}

}  // namespace
}  // namespace leasehold
