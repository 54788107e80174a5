// When something that waits is asked again, and when it only sleeps on.
#include "daemon/waiting.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/served_world.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

struct Asking : testing::Test, RunningWorld {
  Asking() { bell = ::eventfd(0, EFD_CLOEXEC); }
  ~Asking() override { ::close(bell); }

  void ring() const { EXPECT_EQ(::eventfd_write(bell, 1), 0); }
  Steps steps() {
    return {.look = [this] { ++looks; },
            .undo = [] {},
            .give_up = [this] { is_done = true; },
            .is_done = [this] { return is_done; },
            .pause = [this] { return Waiter::Pause{.fds = {bell}, .at_most = pause}; },
            .glance =
                [this] {
                  ++glances;
                  is_done = glance_finds_it;
                }};
  }
  asio::awaitable<void> look(Waiting& waiting) {
    const Result<void> kept = co_await waiting.look(server);
    EXPECT_TRUE(kept);
  }
  asio::awaitable<void> look_and_sleep(Waiting& waiting) {
    const Result<void> kept = co_await waiting.look(server);
    EXPECT_TRUE(kept);
    const std::vector<int> nothing;
    co_await waiting.sleep(server, nothing, Duration(1));
  }

  int bell = -1;
  Duration pause = 1h;
  int looks = 0;
  int glances = 0;
  bool is_done = false;
  bool glance_finds_it = false;
};

TEST_F(Asking, SleepsOnWhileThereIsNoReasonToAskAgain) {
  Waiting waiting(steps());

  for (int i = 0; i < 3; ++i) run(look_and_sleep(waiting));

  EXPECT_EQ(looks, 1);
  EXPECT_EQ(glances, 0);
}

TEST_F(Asking, GlancesAndThenAsksWhenItsBellRings) {
  Waiting waiting(steps());
  run(look_and_sleep(waiting));
  ring();

  run(look_and_sleep(waiting));
  EXPECT_EQ(glances, 1);
  run(look(waiting));

  EXPECT_EQ(looks, 2);
}

TEST_F(Asking, AsksNoMoreWhenAGlanceFoundIt) {
  Waiting waiting(steps());
  glance_finds_it = true;
  ring();

  run(look_and_sleep(waiting));
  EXPECT_TRUE(waiting.is_done());
  run(look(waiting));

  EXPECT_EQ(looks, 1);
}

TEST_F(Asking, AsksAgainWhenItsTimeIsUp) {
  pause = Duration::zero();
  Waiting waiting(steps());

  run(look_and_sleep(waiting));
  run(look(waiting));

  EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace leasehold::daemon
