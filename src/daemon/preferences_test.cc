// Reading Prefer headers as RFC 7240 has them.
#include "daemon/preferences.h"

#include <gtest/gtest.h>

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

TEST(Preferences, AWaitIsFoundHoweverItIsSpelled) {
  for (const char* header :
       {"wait=10", "Wait=\"10\"", "WAIT = 10", "respond-async, wait=10", "a=\",;\", wait=10;x=1",
        "wait=10, wait=20", "\twait=10 ", ",, wait=10", "wait=010"})
    EXPECT_EQ(preferred_wait(header), Duration(10s)) << header;
  EXPECT_EQ(preferred_wait("wait=99999999999999999999999"), Duration(24h));
}

TEST(Preferences, WhatMakesNoSenseIsPassedOver) {
  for (const char* header :
       {"", "wait", "wait=", "wait=\"\"", "wait=1abc", "wait=-1", "wait=1.5", "wait=0", "waits=1",
        "a; wait=10", "a=\"wait=10\"", "a=\", wait=10", "wait=x, wait=10", "wait=\"10"})
    EXPECT_EQ(preferred_wait(header), std::nullopt) << header;
}

TEST(Preferences, AValueMayBeQuoted) {
  EXPECT_EQ(preference(R"(say="a \"b\", c"; d=e)", "say"), R"(a "b", c)");
  EXPECT_EQ(preference("respond-async", "respond-async"), "");
  EXPECT_EQ(preference("a=b", "c"), std::nullopt);
}

TEST(Preferences, AStreamIsAcceptedWhereItIsNamedAndNotRuledOut) {
  const auto takes = [](const char* header) { return accepts(header, "text/event-stream"); };
  for (const char* header : {"text/event-stream", "TEXT/Event-Stream", "application/json, text/event-stream",
                             "text/event-stream;q=0.5", "text/event-stream ; charset=utf-8; Q=1.0"})
    EXPECT_TRUE(takes(header)) << header;
  for (const char* header : {"", "*/*", "application/json", "application/json, text/event-stream;q=0",
                             "text/event-stream; q=0.000", "text/event-streams", "a=\"text/event-stream\""})
    EXPECT_FALSE(takes(header)) << header;
}

}  // namespace
}  // namespace leasehold::daemon
