#include "daemon/same_request.h"

#include <gtest/gtest.h>

#include <optional>

namespace leasehold::daemon {
namespace {

TEST(SameRequest, IsGivenUpWithTheLastConnectionOnly) {
  SameRequests all;
  std::optional<SameRequests::Part> first(std::in_place, all, "key");
  const SameRequests::Part second(all, "key");

  EXPECT_FALSE(first->may_give_up());
  EXPECT_FALSE(second.may_give_up());
  first.reset();
  EXPECT_TRUE(second.may_give_up());
}

TEST(SameRequest, IsKeptOnceAnyOfThemWasTold) {
  SameRequests all;
  const SameRequests::Part first(all, "key");
  {
    SameRequests::Part second(all, "key");
    second.note_told();
  }

  EXPECT_FALSE(first.may_give_up());
}

TEST(SameRequest, IsForgottenWithItsLastConnection) {
  SameRequests all;
  {
    SameRequests::Part earlier(all, "key");
    earlier.note_told();
  }

  EXPECT_TRUE(SameRequests::Part(all, "key").may_give_up());
}

TEST(SameRequest, IsKnownToBeOnItsWayOut) {
  SameRequests all;
  SameRequests::Part leaving(all, "key");
  leaving.begin_giving_up();

  EXPECT_TRUE(SameRequests::Part(all, "key").is_given_up());
  leaving.end_giving_up();
  EXPECT_FALSE(SameRequests::Part(all, "key").is_given_up());
}

TEST(SameRequest, WithoutANameIsNobodyElses) {
  SameRequests all;
  SameRequests::Part one(all, "");
  one.note_told();

  EXPECT_TRUE(SameRequests::Part(all, "").may_give_up());
}

}  // namespace
}  // namespace leasehold::daemon
