#include "cli/did_you_mean.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

constexpr std::string_view kWords[] = {"acquire", "release", "renew", "check", "status"};

TEST(DidYouMean, FindsWhatIsNearlyIt) {
  EXPECT_EQ(did_you_mean("aquire", kWords), " Did you mean acquire?");
  EXPECT_EQ(did_you_mean("acqiure", kWords), " Did you mean acquire?");
  EXPECT_EQ(did_you_mean("stat", kWords), " Did you mean status?");
  EXPECT_EQ(did_you_mean("chekc", kWords), " Did you mean check?");
}

TEST(DidYouMean, DoesNotGuessWildly) {
  EXPECT_EQ(did_you_mean("", kWords), "");
  EXPECT_EQ(did_you_mean("xyz", kWords), "");
  EXPECT_EQ(did_you_mean("commit", kWords), "");
  EXPECT_EQ(did_you_mean(std::string(10'000, 'a'), kWords), "");
  EXPECT_EQ(did_you_mean("--all", std::vector<std::string_view>{"--ttl"}), "");
  EXPECT_EQ(did_you_mean("--subtree", std::vector<std::string_view>{"--store"}), "");
}

}  // namespace
}  // namespace leasehold
