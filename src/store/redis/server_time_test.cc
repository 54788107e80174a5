#include "store/redis/server_time.h"

#include <gtest/gtest.h>

namespace leasehold::redis {
namespace {

using namespace std::chrono_literals;

constexpr Time kAnswer{1'000'000s};

TEST(ServerTime, IsNotKnownBeforeTheServerSaidIt) {
  ServerTime time;

  EXPECT_FALSE(time.believe(kAnswer, 1h));
}

TEST(ServerTime, IsNotEarlierThanItIs) {
  ServerTime time;
  time.note(kAnswer, since_boot() - 2s);  // The server may have answered at once, two seconds ago.

  const auto now = time.believe(kAnswer + 1s, 1h);

  ASSERT_TRUE(now);
  EXPECT_GE(*now, kAnswer + 2s + 2ms) << "its clock may be fast";
}

TEST(ServerTime, WhatMayBeOlderThanWhatWasSeenIsNotBelieved) {
  ServerTime time;
  time.note(kAnswer, since_boot());
  time.note_seen();
  time.note(kAnswer + 1min, since_boot());

  EXPECT_FALSE(time.believe(kAnswer, 1h));
  EXPECT_TRUE(time.believe(kAnswer + 30s, 1h));
}

TEST(ServerTime, WhatIsOlderThanWhatWasBelievedIsNotBelieved) {
  ServerTime time;
  time.note(kAnswer + 1min, since_boot());

  EXPECT_TRUE(time.believe(kAnswer + 2s, 1h));
  EXPECT_FALSE(time.believe(kAnswer + 1s, 1h));
  EXPECT_TRUE(time.believe(kAnswer + 3s, 1h));
}

// The server's clock was set back meanwhile, or it is another server's.
TEST(ServerTime, WhatIsStillToComeIsNotBelieved) {
  ServerTime time;
  time.note(kAnswer, since_boot());

  EXPECT_FALSE(time.believe(kAnswer + 30s, 1h));
}

TEST(ServerTime, WhatIsLongAgoIsNotBelieved) {
  ServerTime time;
  time.note(kAnswer, since_boot() - 3s);

  EXPECT_FALSE(time.believe(kAnswer + 1s, 1s));
  EXPECT_TRUE(time.believe(kAnswer + 1s, 10s));
}

TEST(ServerTime, IsForgottenAfterAWhile) {
  ServerTime time;
  time.note(kAnswer, since_boot() - kServerTimeKept - 1s);

  EXPECT_FALSE(time.believe(kAnswer + 1s, 1h));
}

}  // namespace
}  // namespace leasehold::redis
