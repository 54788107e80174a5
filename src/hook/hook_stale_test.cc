// Files that changed since an agent saw them.
#include <gtest/gtest.h>

#include "hook/staged_agents.h"

namespace leasehold {
namespace {

TEST_F(HookTest, AFileThatAnotherChangedSinceItWasSeenIsReadAgainFirst) {
  write("a", "one");
  ASSERT_EQ(edit("s3", "other"), "") << "there is a store";
  EXPECT_EQ(after("s1", "Read", "a"), "");
  ASSERT_EQ(write_as("s2", "a", "two"), "");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");

  const std::string told = edit("s1", "a");

  EXPECT_TRUE(mentions(told, "a was changed by claude-code (session s2) at 2")) << told;
  EXPECT_TRUE(mentions(told, "Read it again")) << told;
  EXPECT_EQ(holders("/a"), "claude-code@s1 ") << "nobody takes it meanwhile";
  EXPECT_EQ(edit("s1", "a"), "") << "it is told once";
}

TEST_F(HookTest, WhenAFileWasTakenAwayIsToldToo) {
  write("a", "one");
  ASSERT_EQ(edit("s3", "other"), "");
  EXPECT_EQ(after("s1", "Read", "a"), "");
  ASSERT_EQ(edit("s2", "a"), "");
  std::filesystem::remove(root() + "/a");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");

  const std::string told = edit("s1", "a");

  EXPECT_TRUE(mentions(told, "a was removed by claude-code (session s2) at 2")) << told;
}

TEST_F(HookTest, AProjectMayDoWithoutReadingAgain) {
  write(".leasehold.toml", "gate_stale_read = false\n");
  write("a", "one");
  ASSERT_EQ(edit("s3", "other"), "");
  EXPECT_EQ(after("s1", "Read", "a"), "");
  ASSERT_EQ(write_as("s2", "a", "two"), "");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");
  EXPECT_EQ(edit("s1", "a"), "");
}

TEST_F(HookTest, AFileThatWasReadAgainIsWrittenAtOnce) {
  write("a", "one");
  ASSERT_EQ(edit("s3", "other"), "");
  EXPECT_EQ(after("s1", "Read", "a"), "");
  ASSERT_EQ(write_as("s2", "a", "two"), "");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");
  EXPECT_EQ(after("s1", "Read", "a"), "");
  EXPECT_EQ(edit("s1", "a"), "");
}

TEST_F(HookTest, WhatNoOtherOwnerChangedIsNoMatter) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  write("a", "three");
  EXPECT_EQ(edit("s1", "a"), "") << "a person's editor, or its own shell";

  write("b", "one");
  EXPECT_EQ(after("s1", "Read", "b"), "");
  ASSERT_EQ(edit("s2", "b"), "");
  ASSERT_EQ(tell("s2", "SessionEnd"), "");
  EXPECT_EQ(edit("s1", "b"), "") << "held, but not changed";
}

}  // namespace
}  // namespace leasehold
