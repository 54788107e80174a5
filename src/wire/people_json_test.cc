// Who is there, as told by the command line and the API alike.
#include "wire/people_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/records.h"

namespace leasehold {
namespace {

BoardRow row_of(const Lease& lease, Liveness liveness, Status status = Status::active) {
  BoardRow row = {.lease = lease, .verdict = {liveness, ""}, .live = true};
  row.lease.status = status;
  return row;
}

// Its rows come by path; a lease that it had renewed long ago may come last.
TEST(PeopleJson, OfAnAgentCountsWhatWasHeardLast) {
  Lease newer = filled_lease();
  Lease older = newer;
  newer.path = "/a";
  older.path = "/b";
  older.last_heartbeat_at -= std::chrono::seconds(60);
  Board board;
  board.rows = {row_of(newer, Liveness::alive), row_of(older, Liveness::unknown),
                row_of(older, Liveness::unknown, Status::pending)};

  const auto agents = agents_json(board).at("agents").as_array();

  ASSERT_EQ(agents.size(), 1u);
  EXPECT_EQ(agents[0].at("holds"), 2);
  EXPECT_EQ(agents[0].at("waits"), 1);
  EXPECT_EQ(agents[0].at("verdict").at("liveness"), "alive");
  EXPECT_EQ(agents_on(board).begin()->second.last_heartbeat_at, newer.last_heartbeat_at);
}

}  // namespace
}  // namespace leasehold
