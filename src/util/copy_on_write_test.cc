#include "util/copy_on_write.h"

#include <gtest/gtest.h>

#include <string>

namespace leasehold {
namespace {

TEST(CopyOnWrite, CopiesShareOneValueUntilOneIsChanged) {
  CopyOnWrite<std::string> one = std::string("large");
  const CopyOnWrite<std::string> other = one;
  EXPECT_EQ(&*one, &*other);

  one.own() += "r";

  EXPECT_EQ(*one, "larger");
  EXPECT_EQ(*other, "large");
}

TEST(CopyOnWrite, EqualValuesAreEqualWhereverTheyStand) {
  const CopyOnWrite<std::string> one = std::string("same");

  EXPECT_EQ(one, CopyOnWrite<std::string>(std::string("same")));
  EXPECT_NE(one, CopyOnWrite<std::string>());
}

}  // namespace
}  // namespace leasehold
