#include "daemon/guests.h"

#include <gtest/gtest.h>

#include <string>

namespace leasehold::daemon {
namespace {

struct Guests : testing::Test {
  Guest guest(const std::string& name) {
    return {.close = [this, name] { closed += name; }};
  }

  std::list<Guest> all;
  std::string closed;
};

TEST_F(Guests, AllStayWhileThereIsRoom) {
  all.push_back(guest("a"));

  EXPECT_TRUE(has_room(all, 2));
  EXPECT_EQ(closed, "");
}

TEST_F(Guests, StrangersMakeRoomInTheOrderInWhichTheyCame) {
  for (const char* name : {"a", "b", "c"}) all.push_back(guest(name));
  all.front().is_known = true;
  all.back().is_idle = false;
  all.back().is_asking = true;

  EXPECT_TRUE(has_room(all, 3));
  EXPECT_EQ(closed, "b");
  EXPECT_TRUE(has_room(all, 3));
  EXPECT_EQ(closed, "bc");
}

TEST_F(Guests, WhoIsKnownOrBeingAnsweredStays) {
  all.push_back(guest("known"));
  all.back().is_known = true;
  all.push_back(guest("answered"));
  all.back().is_idle = false;

  EXPECT_FALSE(has_room(all, 2));
  EXPECT_EQ(closed, "");
}

}  // namespace
}  // namespace leasehold::daemon
