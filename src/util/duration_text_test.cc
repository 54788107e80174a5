#include "util/duration_text.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

using namespace std::chrono_literals;

TEST(DurationText, IsReadWithItsUnits) {
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("2d"), 48h);
  EXPECT_EQ(parse_duration("-10s"), -10s);
  EXPECT_EQ(parse_duration("0s"), 0s);
  EXPECT_EQ(parse_duration("0"), 0s);
}

TEST(DurationText, IsRefusedWhereItIsNone) {
  for (const char* text : {"", "-", "5", "m", "5 m", "5x", "1.5h", "--1s", "1-1s", "1s-"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(DurationText, IsAsLongAsCanBeWhereItIsLonger) {
  for (const char* text : {"9223372036854775807d", "99999999999999999999s", "100000d100000d", "9999999999h"})
    EXPECT_EQ(parse_duration(text), Duration(24h * 100'000)) << text;
}

TEST(DurationText, IsWrittenAsItIsRead) {
  for (const Duration duration :
       {Duration(0), Duration(1), Duration(1500), Duration(90min), Duration(49h), Duration(-10s)}) {
    EXPECT_EQ(parse_duration(duration_text(duration)), duration) << duration_text(duration);
  }
  EXPECT_EQ(duration_text(90min), "1h30m");
}

}  // namespace
}  // namespace leasehold
