#include "util/path_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace leasehold {
namespace {

TEST(PathText, SegmentsAreWhatIsBetweenSlashes) {
  std::string_view rest = "//a/./b//c/";
  std::vector<std::string_view> segments;
  while (const auto segment = next_segment(rest)) segments.push_back(*segment);

  EXPECT_EQ(segments, (std::vector<std::string_view>{"a", ".", "b", "c"}));
}

TEST(PathText, JoinAddsOneSlash) {
  EXPECT_EQ(join("/a", "b"), "/a/b");
  EXPECT_EQ(join("/", "b"), "/b");
}

TEST(PathText, ParentOfTheRootIsTheRoot) {
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/"), "/");
}

TEST(PathText, BelowTakesWholeNamesOnly) {
  EXPECT_EQ(below("/r/a", "/r"), "/a");
  EXPECT_EQ(below("/r", "/r"), "/");
  EXPECT_EQ(below("/a", "/"), "/a");
  EXPECT_EQ(below("/rest/a", "/r"), std::nullopt);
  EXPECT_EQ(below("/", "/r"), std::nullopt);
}

}  // namespace
}  // namespace leasehold
