#include "util/rfc3339.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

using namespace std::chrono;

constexpr sys_time<microseconds> kMoment = sys_days(2026y / November / 15) + 8h + 47min + 11s + 123'456us;

TEST(Rfc3339, IsWrittenInUtc) {
  EXPECT_EQ(to_rfc3339(kMoment), "2026-11-15T08:47:11.123456Z");
  EXPECT_EQ(to_rfc3339(sys_time<microseconds>(-1us)), "1969-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, IsReadInEveryForm) {
  for (const char* text : {"2026-11-15T08:47:11.123456Z", "2026-11-15t08:47:11.123456z",
                           "2026-11-15T10:47:11.123456789+02:00", "2026-11-15T03:17:11.123456-05:30"}) {
    EXPECT_EQ(parse_rfc3339(text), kMoment) << text;
  }
  EXPECT_EQ(parse_rfc3339("2026-11-15T08:47:11Z"), kMoment - 123'456us);
  EXPECT_EQ(parse_rfc3339("2026-11-15T08:47:11.1Z"), kMoment - 23'456us);
  EXPECT_EQ(parse_rfc3339("2016-12-31T23:59:60Z"), sys_days(2017y / January / 1));
  EXPECT_EQ(parse_rfc3339("2024-02-29T00:00:00Z"), sys_days(2024y / February / 29));
}

TEST(Rfc3339, IsNothingWhenItIsNoMoment) {
  for (const char* text :
       {"", "yesterday", "2026-11-15", "2026-11-15T08:47:11", "2026-11-15T08:47Z", "2026-13-15T08:47:11Z",
        "2026-02-29T08:47:11Z", "2026-11-15T24:00:00Z", "2026-11-15T08:60:00Z", "2026-11-15T08:47:61Z",
        "2026-11-15T08:47:11.Z", "2026-11-15T08:47:11Z ", "2026-11-15T08:47:11+2:00",
        "2026-11-15T08:47:11+24:00", "-026-11-15T08:47:11Z", "+2026-11-15T08:47:11Z", "1794727227"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

TEST(Rfc3339, WhatWasWrittenIsReadBack) {
  for (const auto moment : {kMoment, sys_time<microseconds>(), kMoment - 876'543h, kMoment + 876'543h}) {
    EXPECT_EQ(parse_rfc3339(to_rfc3339(moment)), moment) << to_rfc3339(moment);
  }
}

}  // namespace
}  // namespace leasehold
