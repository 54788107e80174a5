#include "init/marked_block.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

const std::string kTexts[] = {"",    "a",       "a\n", "a\nb", "a\r\nb\r\n", "a\r\nb", "\n", "#!/bin/sh\n\nx",
                              "a\r", "a\r\nb\r"};

TEST(MarkedBlock, WhatIsTakenOutIsWhatWasPutIn) {
  for (const std::string& text : kTexts) {
    const std::string end = with_block_at_end(text, "x\ny\n");
    EXPECT_EQ(without_block(end), text) << end;
    EXPECT_TRUE(has_block_of(end, "x\ny\n")) << end;
    EXPECT_FALSE(has_block_of(end, "x\n"));
    const std::string second = with_block_behind_first_line(text, "x\ny\n");
    EXPECT_EQ(without_block(second), text) << second;
    EXPECT_TRUE(has_block_of(second, "x\ny\n")) << second;
    EXPECT_FALSE(has_block(text));
  }
}

TEST(MarkedBlock, WhatFollowsItStays) {
  EXPECT_EQ(without_block(with_block_at_end("a\n", "x\n") + "b\n"), "a\nb\n");
  EXPECT_EQ(without_block(with_block_at_end("a", "x\n") + "\nb\n"), "a\nb\n");
}

TEST(MarkedBlock, LineEndsAreThoseOfTheText) {
  EXPECT_FALSE(with_block_at_end("a\nb\n", "x\n").contains('\r'));
  EXPECT_TRUE(with_block_at_end("a\r\nb\r\n", "x\n").contains("x\r\n"));
}

TEST(MarkedBlock, AMarkerWithoutItsPartnerIsNobodysBlock) {
  const std::string half = std::string(kBlockBegin) + "\nx\n";
  EXPECT_EQ(without_block(half), half);
}

}  // namespace
}  // namespace leasehold
