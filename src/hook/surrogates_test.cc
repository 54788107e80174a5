#include "hook/surrogates.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

TEST(Surrogates, HalvesOfCharactersAreReplaced) {
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d")"), R"("\ufffd")");
  EXPECT_EQ(without_lone_surrogates(R"("\uDC00\uD800x\udfff")"), R"("\ufffd\ufffdx\ufffd")");
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ud83d\ude00")"), R"("\ufffd\ud83d\ude00")");
  EXPECT_EQ(without_lone_surrogates(R"("\\\ud83d\n")"), R"("\\\ufffd\n")");
}

TEST(Surrogates, OtherTextsAreLeftAlone) {
  for (const char* const text :
       {"", "\\", "\\u", "\\ud8", R"("\ud83d\ude00")", R"("\\ud83d")", R"("a\u00e4\"\\")", R"("\u+d83")"})
    EXPECT_EQ(without_lone_surrogates(text), std::nullopt) << text;
}

}  // namespace
}  // namespace leasehold
