#include "model/notice_text.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{100s};

Notice notice(EndCause cause, const std::string& actor, const std::string& reason) {
  return {
      .cause = cause, .path = "/src/a.ts", .actor = actor, .reason = reason, .at = Time(100s), .wall = kNow};
}

TEST(NoticeText, SaysWhatCameIn) {
  Notice one = notice(EndCause::transferred, "ann", "French is missing");
  one.received = true;
  EXPECT_EQ(notice_text(one, kNow), "/src/a.ts comes from ann: \"French is missing\".");
}

TEST(NoticeText, SaysWhatIsLost) {
  EXPECT_EQ(notice_text(notice(EndCause::forced, "olga", "cleanup"), kNow),
            "/src/a.ts was taken from you by olga: \"cleanup\".");
  Notice folder = notice(EndCause::expired, "", "");
  folder.subtree = true;
  EXPECT_EQ(notice_text(folder, kNow), "/src/a.ts/** is not yours any more (expired).");
}

// Whoever reads it is not dead.
TEST(NoticeText, SaysThatAProcessHasEnded) {
  EXPECT_EQ(notice_text(notice(EndCause::owner_dead, "", "its owner is dead"), kNow),
            "/src/a.ts is not yours any more: the process that it hung on has ended.");
}

TEST(NoticeText, WhatIsAskedBackIsNotLostYet) {
  Notice recall = notice(EndCause::recalled, "olga", "need");
  recall.wall = kNow + 60s;
  recall.at = Time(160s);
  EXPECT_FALSE(is_loss(recall, Time(100s)));
  EXPECT_EQ(notice_text(recall, kNow),
            "/src/a.ts is asked back by olga: \"need\". It ends in 1m: release it when you can.");
  EXPECT_TRUE(is_loss(recall, Time(160s)));
  EXPECT_EQ(notice_text(recall, kNow + 60s), "/src/a.ts was taken from you by olga: \"need\".");
}

}  // namespace
}  // namespace leasehold
