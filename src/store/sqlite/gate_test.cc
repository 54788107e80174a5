#include "store/sqlite/gate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "env/child.h"
#include "support/signal.h"
#include "support/temp_folder.h"
#include "util/read_file.h"

namespace leasehold::sqlite {
namespace {

using namespace std::chrono_literals;

// Far more than anything here should take.
constexpr Duration kPatience = 20s;
constexpr Duration kShort = 50ms;

class GateTest : public testing::Test {
 public:
  std::unique_ptr<Gate> open() const { return Gate::open(path).value(); }

  // A process that is inside, and stays there.
  Child::Work stay_inside(const Signal& inside) const {
    return [this, &inside] {
      const auto gate = open();
      const auto pass = gate->enter(kPatience);
      if (pass) inside.give();
      return Child::rest();
    };
  }

  // Returns once the process waits at the gate.
  static bool sleeps_at_gate(const Child& child) {
    const std::string asleep = fmt::format("/proc/{}/wchan", child.pid());
    for (int i = 0; i < 10'000; ++i) {
      if (read_file(asleep, 64).value_or("").find("futex") != std::string::npos) return true;
      usleep(1000);
    }
    return false;
  }

  TempFolder folder;
  const std::string path = folder.path() + "/gate";
};

std::string message_of(const Result<Gate::Pass>& pass) {
  return pass ? "entered" : fmt::format("{}: {}", info(pass.error().code).name, pass.error().message);
}

TEST_F(GateTest, OneIsInsideAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 200;
  std::atomic<int> inside = 0;
  std::atomic<int> turns = 0;
  std::atomic<int> together = 0;
  // Two threads for each of two gates, as if they were two processes.
  const std::unique_ptr<Gate> gates[] = {open(), open()};

  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, &gate = *gates[i % 2]] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const auto pass = gate.enter(kPatience);
        if (!pass) continue;
        if (++inside != 1) ++together;
        ++turns;
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(together, 0);
  EXPECT_EQ(turns, kThreads * kTurns);
}

TEST_F(GateTest, WhoNeverLeavesIsNamed) {
  const auto gate = open();
  const auto other = open();
  const auto pass = other->enter(kPatience);
  ASSERT_TRUE(pass);

  const auto begin = std::chrono::steady_clock::now();
  const auto second = gate->enter(kShort);
  const auto waited = std::chrono::steady_clock::now() - begin;

  EXPECT_EQ(message_of(second),
            fmt::format("unavailable: The store's gate {} stayed closed for 0.1 s: process {} "
                        "(store_sqlite_te) is inside. Nothing was written. If it is stopped, continue it "
                        "(kill -CONT {}) or end it.",
                        path, getpid(), getpid()));
  EXPECT_GE(waited, kShort);
  EXPECT_LT(waited, kPatience);
}

TEST_F(GateTest, WhoWaitsInTheSameProcessHasADeadlineToo) {
  const auto gate = open();
  const auto pass = gate->enter(kPatience);
  ASSERT_TRUE(pass);

  const auto second = gate->enter(kShort);

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::unavailable);
}

TEST_F(GateTest, IsOpenAgainForThoseWhoGaveUp) {
  const auto gate = open();
  {
    const auto other = open();
    const auto pass = other->enter(kPatience);
    ASSERT_TRUE(pass);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { EXPECT_FALSE(gate->enter(kShort)); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(gate->enter(kShort));
  }

  for (int i = 0; i < 10; ++i) EXPECT_EQ(message_of(gate->enter(kPatience)), "entered");
  EXPECT_EQ(message_of(open()->enter(kPatience)), "entered") << "nobody was left inside";
}

TEST_F(GateTest, IsNotHeldByOneWhoGaveUpAndWasClosed) {
  const auto holder = open();
  {
    const auto pass = holder->enter(kPatience);
    ASSERT_TRUE(pass);
    const auto gate = open();
    EXPECT_FALSE(gate->enter(kShort));
  }

  EXPECT_EQ(message_of(open()->enter(kPatience)), "entered");
}

TEST_F(GateTest, APassCanBeHandedOn) {
  const auto gate = open();
  {
    auto pass = gate->enter(kPatience);
    ASSERT_TRUE(pass);
    const Gate::Pass moved = std::move(*pass);
    pass = fail(Code::unavailable, "gone");

    EXPECT_FALSE(open()->enter(kShort));
  }

  EXPECT_TRUE(open()->enter(kPatience));
}

// Each comes to the gate only when the one before is surely in line.
TEST_F(GateTest, ThreadsEnterInTheOrderTheyCame) {
  const auto gate = open();
  const auto other = open();
  auto pass = std::make_unique<Result<Gate::Pass>>(other->enter(kPatience));
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const auto mine = gate->enter(kPatience);
      const std::lock_guard lock(mutex);
      order.push_back(i);
    });
    std::this_thread::sleep_for(20ms);
  }

  pass.reset();
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST_F(GateTest, WhoComesBackAtOnceGoesBehindThoseWhoWait) {
  const auto gate = open();
  std::atomic<bool> done = false;
  std::atomic<int> waiter_turns = 0;
  std::thread waiter([&] {
    while (waiter_turns < 100 && gate->enter(kPatience)) ++waiter_turns;
    done = true;
  });

  int own_turns = 0;
  while (!done) {
    const auto pass = gate->enter(kPatience);
    ASSERT_TRUE(pass);
    if (waiter_turns > 0) ++own_turns;
    std::this_thread::sleep_for(100us);
  }
  waiter.join();

  EXPECT_LE(own_turns, 300) << "for 100 turns of the one that waits";
}

TEST_F(GateTest, AProcessKilledInsideOpensIt) {
  const Signal inside;
  Child child(stay_inside(inside));
  ASSERT_TRUE(inside.wait());
  const auto gate = open();
  ASSERT_FALSE(gate->enter(kShort));

  child.kill();
  child.reap();

  EXPECT_EQ(message_of(gate->enter(kPatience)), "entered");
}

TEST_F(GateTest, AStoppedProcessIsNamedAndCanGoOn) {
  const Signal inside;
  const Signal leave;
  Child child([&] {
    const auto own = open();
    {
      const auto pass = own->enter(kPatience);
      inside.give();
      leave.wait();
    }
    return std::string("left");
  });
  ASSERT_TRUE(inside.wait());
  kill(child.pid(), SIGSTOP);
  const auto gate = open();

  const std::string answer = message_of(gate->enter(kShort));

  EXPECT_NE(answer.find(fmt::format("process {} (store_sqlite_te) is inside", child.pid())),
            std::string::npos)
      << answer;
  EXPECT_NE(answer.find(fmt::format("kill -CONT {}", child.pid())), std::string::npos) << answer;
  leave.give();
  kill(child.pid(), SIGCONT);
  EXPECT_EQ(message_of(gate->enter(kPatience)), "entered");
  EXPECT_EQ(child.answer(), "left");
}

// It stands before the gate and holds everybody up, though it is not inside.
TEST_F(GateTest, AProcessStoppedBeforeTheGateIsNamed) {
  const auto gate = open();
  auto pass = std::make_unique<Result<Gate::Pass>>(gate->enter(kPatience));
  ASSERT_TRUE(*pass);
  Child child([&] {
    const auto own = open();
    return message_of(own->enter(kPatience));
  });
  ASSERT_TRUE(sleeps_at_gate(child));
  kill(child.pid(), SIGSTOP);
  pass.reset();

  const std::string answer = message_of(gate->enter(kShort));

  EXPECT_NE(answer.find(fmt::format("process {} (store_sqlite_te) is next and does not go in", child.pid())),
            std::string::npos)
      << answer;
  kill(child.pid(), SIGCONT);
  EXPECT_EQ(child.answer(), "entered");
  EXPECT_EQ(message_of(gate->enter(kPatience)), "entered");
}

TEST_F(GateTest, AProcessKilledBeforeTheGateLetsTheNextThrough) {
  const auto gate = open();
  auto pass = std::make_unique<Result<Gate::Pass>>(gate->enter(kPatience));
  ASSERT_TRUE(*pass);
  Child child([&] {
    const auto own = open();
    return message_of(own->enter(kPatience));
  });
  ASSERT_TRUE(sleeps_at_gate(child));
  child.kill();
  child.reap();
  pass.reset();

  EXPECT_EQ(message_of(gate->enter(kPatience)), "entered");
}

// Who locks it from outside leaves no name there, and the last one that did is not to blame.
TEST_F(GateTest, WhoLocksItWithoutANameIsNamedToo) {
  const auto gate = open();
  ASSERT_TRUE(gate->enter(kPatience));
  const Signal locked;
  const Child stranger([&] {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (flock(file, LOCK_EX) == 0) locked.give();
    return Child::rest();
  });
  ASSERT_TRUE(locked.wait());

  const std::string answer = message_of(gate->enter(kShort));

  EXPECT_NE(answer.find(fmt::format("process {} (store_sqlite_te) is inside", stranger.pid())),
            std::string::npos)
      << answer;
}

TEST_F(GateTest, AProcessThatIsGoneIsNotBlamed) {
  {
    const Child gone([&] { return message_of(open()->enter(kPatience)); });
    ASSERT_EQ(gone.answer(), "entered");
  }
  // Locked by a process that ended, and open in this one: nobody can be named.
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const Child locker([&] { return std::string(flock(file, LOCK_EX) == 0 ? "locked" : "not locked"); });
  ASSERT_EQ(locker.answer(), "locked");
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(locker.pid()), &info, WEXITED), 0);

  const std::string answer = message_of(open()->enter(kShort));

  EXPECT_NE(answer.find("who is there cannot be told"), std::string::npos) << answer;
  close(file);
}

TEST_F(GateTest, ACutFileKillsNobody) {
  const auto gate = open();
  ASSERT_TRUE(gate->enter(kPatience));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);

  EXPECT_EQ(message_of(gate->enter(kPatience)), "entered");
}

TEST_F(GateTest, ADeletedFileLetsNobodyIn) {
  const auto gate = open();
  ASSERT_EQ(unlink(path.c_str()), 0);
  const std::string gone = message_of(gate->enter(kPatience));
  const auto other = open();
  const auto inside = other->enter(kPatience);
  ASSERT_TRUE(inside);
  const std::string replaced = message_of(gate->enter(kPatience));

  EXPECT_NE(gone.find("was deleted or replaced"), std::string::npos) << gone;
  EXPECT_EQ(replaced, gone);
}

TEST_F(GateTest, WhoWaitsAtADeletedFileFindsOut) {
  const auto gate = open();
  const auto pass = gate->enter(kPatience);
  ASSERT_TRUE(pass);
  const Child waiter([&] { return message_of(open()->enter(kPatience)); });
  ASSERT_TRUE(sleeps_at_gate(waiter));
  ASSERT_EQ(unlink(path.c_str()), 0);

  const std::string answer = waiter.answer();

  EXPECT_NE(answer.find("was deleted or replaced"), std::string::npos) << answer;
}

TEST_F(GateTest, APipeIsNoGate) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);

  const auto gate = Gate::open(path);

  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().code, Code::config_error);
}

TEST_F(GateTest, AGateThatCannotBeMadeSaysWhy) {
  const auto gate = Gate::open(folder.path() + "/missing/gate");

  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().code, Code::unavailable);
  EXPECT_NE(gate.error().message.find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace leasehold::sqlite
