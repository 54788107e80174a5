// Who is first is one of them, and only one.
#include <gtest/gtest.h>

#include <thread>

#include "scene.h"

namespace leasehold {
namespace {

using Race = Scene;

TEST_F(Race, OfEightShellsExactlyOneWinsEachOfTwoHundredTimes) {
  constexpr int kShells = 8;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    int winners = 0;
    std::string winner;
    std::vector<std::unique_ptr<StartedLease>> shells;
    for (int i = 0; i < kShells; ++i) {
      shells.push_back(std::make_unique<StartedLease>(std::vector<std::string>{"acquire", "-q", "src/b.ts"},
                                                      environment("agent" + std::to_string(i)), root()));
    }
    for (int i = 0; i < kShells; ++i) {
      const Ran ran = shells[static_cast<std::size_t>(i)]->wait();
      ASSERT_TRUE(ran.exit == 0 || ran.exit == 75) << ran.exit << ran.err;
      if (ran.exit != 0) continue;
      ++winners;
      winner = "agent" + std::to_string(i);
    }
    ASSERT_EQ(winners, 1) << "in round " << round;
    ASSERT_EQ(as(winner, {"release", "-q", "src/b.ts"}).exit, 0);
  }
}

}  // namespace
}  // namespace leasehold
