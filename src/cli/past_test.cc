#include "cli/past.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

using namespace std::chrono_literals;

Event event(EventType type, const std::string& id, Status after, WallTime wall,
            EndCause cause = EndCause::none) {
  Event one;
  one.type = type;
  one.lease_id = {id};
  one.path = "/a";
  one.owner = {"ann", "s"};
  one.status_after = after;
  one.wall = wall;
  one.cause = cause;
  return one;
}

constexpr WallTime kStart{1000s};

TEST(Past, AWaitBecomesALeaseAndEnds) {
  const Event events[] = {
      event(EventType::queued, "1", Status::pending, kStart),
      event(EventType::acquired, "1", Status::active, kStart + 1s),
      event(EventType::renewed, "1", Status::active, kStart + 2s),
      event(EventType::released, "1", Status::released, kStart + 3s, EndCause::released),
  };

  const auto all = stays(events);

  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].waits);
  EXPECT_EQ(all[0].to, kStart + 1s);
  EXPECT_FALSE(all[1].waits);
  EXPECT_EQ(all[1].from, kStart + 1s);
  EXPECT_EQ(all[1].to, kStart + 3s);
  EXPECT_EQ(all[1].cause, EndCause::released);
}

TEST(Past, WhatIsNotOverGoesOn) {
  const Event events[] = {event(EventType::acquired, "1", Status::active, kStart),
                          event(EventType::acquired, "2", Status::active, kStart)};

  const auto all = stays(events);

  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].to);
  EXPECT_FALSE(all[1].to);
}

TEST(Past, BatchesAndRefusedRenewalsChangeNothing) {
  Event batch = event(EventType::renewed, "", Status::active, kStart + 1s);
  Event refused = event(EventType::failed, "1", Status::active, kStart + 2s);
  refused.status_after.reset();
  const Event events[] = {event(EventType::acquired, "1", Status::active, kStart), batch, refused};

  const auto all = stays(events);

  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all[0].to);
}

}  // namespace
}  // namespace leasehold
