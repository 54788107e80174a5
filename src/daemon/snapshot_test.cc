#include "daemon/snapshot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "wire/answer_json.h"

namespace leasehold::daemon {
namespace {

Board board_of(std::size_t rows) {
  Board board;
  for (std::size_t i = 0; i < rows; ++i) {
    Lease lease;
    lease.path = fmt::format("/src/{}.ts", i);
    board.rows.push_back({.lease = lease, .verdict = {}, .live = true});
  }
  return board;
}

TEST(Snapshot, ItsPiecesAreOneEvent) {
  for (const std::size_t rows : {0u, 1u, 1'000u, 1'001u, 2'500u}) {
    Snapshot snapshot(42, board_of(rows));
    std::string told;
    std::size_t pieces = 0;
    while (!snapshot.is_told()) {
      told += snapshot.next_piece();
      ++pieces;
    }
    EXPECT_EQ(told, fmt::format("id: 42\nevent: snapshot\ndata: {}\n\n",
                                boost::json::serialize(board_json(board_of(rows)))));
    EXPECT_EQ(pieces, rows == 0 ? 1 : (rows + 999) / 1'000);
  }
}

}  // namespace
}  // namespace leasehold::daemon
