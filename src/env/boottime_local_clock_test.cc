#include "env/boottime_local_clock.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Returns when its time has come, in a loop because it may do so early.
TEST(BoottimeLocalClock, WaitsUntilTheMoment) {
  BoottimeLocalClock clock;
  const LocalTime until = clock.now() + 5ms;

  while (clock.now() < until) clock.wait(until, -1);

  EXPECT_GE(clock.now(), until);
}

TEST(BoottimeLocalClock, DoesNotWaitForThePast) {
  BoottimeLocalClock clock;

  clock.wait(LocalTime(0ns), -1);
  clock.wait(LocalTime::min(), -1);
  clock.wait(clock.now(), -1);
}

TEST(BoottimeLocalClock, IsWokenBeforeTheMoment) {
  BoottimeLocalClock clock;
  const int wake = eventfd(1, EFD_CLOEXEC);

  clock.wait(LocalTime::max(), wake);
  clock.wait(clock.now() + 24h, wake);

  close(wake);
}

}  // namespace
}  // namespace leasehold
