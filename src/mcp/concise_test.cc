#include "mcp/concise.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "support/records.h"
#include "wire/answer_json.h"

namespace leasehold::mcp {
namespace {

using namespace std::chrono_literals;

// One with everything a lease can have, and one with as little as it can.
Board board() {
  Lease full = make_lease(1, "/src/a.ts");
  full.subtree = true;
  full.holder = {.owner = {"ann", "s"},
                 .pr_id = "12",
                 .host = "here",
                 .process = Process{.machine_id = "m", .boot_id = "b", .pid = 42, .start_time = 7}};
  full.ended_by = EndCause::idle;
  full.idle_at = full.acquired_at + 1s;
  full.recalled_at = full.acquired_at + 2s;
  full.room = "room";
  full.reason = "why";
  full.trace = "trace";
  full.paired_with = {"/src/b.ts"};
  full.pairs = {"/tests/a.test.ts", "/tests/b.test.ts"};
  full.rule = "mirror";
  Lease bare = make_lease(2, "/b");
  bare.holder = {.owner = {"bob", ""}};
  bare.expires_at = kForever;
  bare.reason.clear();
  return {.now = full.acquired_at,
          .wall = WallTime(1'760'000'000s),
          .rows = {{full, {Liveness::alive, "it runs"}, true}, {bare, {Liveness::unknown, ""}, false}}};
}

TEST(Concise, ABoardIsWhatIsLeftOfTheWholeOne) {
  EXPECT_EQ(json::serialize(concise_board(board())), json::serialize(concise(board_json(board()))));
  EXPECT_EQ(json::serialize(concise_board({})), json::serialize(concise(board_json({}))));
}

TEST(Concise, SaysANoticeInWords) {
  const json::object told = concise({{"notices",
                                      {{{"cause", "recalled"},
                                        {"received", false},
                                        {"path", "/src/a.ts"},
                                        {"actor", "olga"},
                                        {"reason", "need"},
                                        {"at", "2999-01-01T00:00:00Z"}}}}});

  const std::string message(told.at("notices").at(0).at("message").as_string());
  EXPECT_TRUE(message.starts_with("/src/a.ts is asked back by olga: \"need\". It ends in ")) << message;
}

}  // namespace
}  // namespace leasehold::mcp
