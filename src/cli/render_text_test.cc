#include "cli/render_text.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow{1000s};

std::string shown(const Lease& lease) {
  return board_text({.now = kNow, .wall = {}, .rows = {{.lease = lease, .verdict = {}, .live = true}}},
                    Output({}));
}

TEST(RenderText, ALeaseEndsWhenItsIdleTimeOrARecallEndsIt) {
  Lease lease;
  lease.path = "/a";
  lease.status = Status::active;
  lease.acquired_at = kNow;
  lease.expires_at = kNow + 5min;
  EXPECT_TRUE(shown(lease).contains(" 5m ")) << shown(lease);

  lease.idle_at = kNow + 20s;
  EXPECT_TRUE(shown(lease).contains(" 20s ")) << shown(lease);

  lease.recalled_at = kNow + 10s;
  EXPECT_TRUE(shown(lease).contains(" 10s, asked back ")) << shown(lease);
}

}  // namespace
}  // namespace leasehold
