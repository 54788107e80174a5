// An agent whose clock is hours off: no decision changes, and what people read is the server's time.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "support/redis_client.h"
#include "support/redis_server.h"

namespace {

std::atomic<long> seconds_off = 0;

}  // namespace

// What everything in this program that asks for the time gets to hear.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long done = syscall(SYS_clock_gettime, clock, time);
  if (done == 0 && clock == CLOCK_REALTIME) time->tv_sec += seconds_off;
  return static_cast<int>(done);
}

namespace leasehold {
namespace {

constexpr long kHours = 3600;

struct RedisClockOff : testing::Test {
  ~RedisClockOff() override { seconds_off = 0; }

  WallTime server_time() const {
    const std::string answer = database.call({"TIME"});
    return WallTime(std::chrono::seconds(std::stoll(answer.substr(0, answer.find('\n')))));
  }

  RedisDatabase database;
};

TEST_F(RedisClockOff, TheTestReallySetsTheClock) {
  seconds_off = 5 * kHours;

  EXPECT_GT(std::chrono::system_clock::now() - server_time(), 4h);
}

TEST_F(RedisClockOff, NobodyLosesOrGetsALeaseByIt) {
  for (const long off : {-9 * kHours, -1 * kHours, 1 * kHours, 9 * kHours}) {
    SCOPED_TRACE(off);
    const std::string path = "/" + std::to_string(off);
    seconds_off = 0;
    RedisClient right(database.url());
    const Lease first = right.must_acquire(ann(), path, 30s);

    seconds_off = off;
    RedisClient wrong(database.url());
    EXPECT_EQ(word_for(wrong.acquire(bob(), path, 30s)), "busy");
    EXPECT_TRUE(wrong.manager->sweep());
    const auto renewed = wrong.manager->renew({.caller = {{.owner = ann()}}, .which = {.ids = {first.id}}});
    ASSERT_TRUE(renewed);
    EXPECT_FALSE(renewed->outcomes.at(0).error);

    // The other way round: granted by the wrong clock, seen by the right one.
    const Lease second = wrong.must_acquire(bob(), path + "-b", 30s);
    EXPECT_GT(second.token, first.token);
    seconds_off = 0;
    EXPECT_EQ(word_for(right.acquire(ann(), path + "-b", 30s)), "busy");
    EXPECT_GT(right.must_acquire(ann(), path + "-c").token, second.token);
  }
}

TEST_F(RedisClockOff, LeasesRunOutByTheServersClock) {
  for (const long off : {-9 * kHours, 9 * kHours}) {
    SCOPED_TRACE(off);
    seconds_off = off;
    RedisClient wrong(database.url());
    const std::string path = "/" + std::to_string(off);
    wrong.must_acquire(ann(), path, 100ms);

    EXPECT_TRUE(eventually([&] { return word_for(wrong.acquire(bob(), path, 100ms)) == "granted"; }));
  }
}

TEST_F(RedisClockOff, HistoryTellsTheServersTime) {
  seconds_off = 9 * kHours;
  RedisClient wrong(database.url());
  wrong.must_acquire(ann(), "/a");

  for (const Event& event : wrong.history()) EXPECT_LT(std::chrono::abs(event.wall - server_time()), 10min);
}

TEST_F(RedisClockOff, AWaiterIsServedAllTheSame) {
  RedisClient right(database.url());
  right.must_acquire(ann(), "/a", 500ms);
  seconds_off = 9 * kHours;
  RedisClient wrong(database.url());
  AcquireRequest request = RedisClient::request(bob(), "/a");
  request.wait = 20s;

  EXPECT_EQ(word_for(wrong.manager->acquire_and_wait(request)), "granted");
}

}  // namespace
}  // namespace leasehold
