// Reading the board page by page.
#include "daemon/board_pages.h"

#include <gtest/gtest.h>

namespace leasehold::daemon {
namespace {

struct Pages : testing::Test {
  static Board board_of(std::initializer_list<const char*> paths) {
    Board board;
    for (const char* path : paths) {
      BoardRow row;
      row.lease.path = path;
      row.lease.id.text = std::string("id-") + path;
      board.rows.push_back(row);
    }
    return board;
  }
  static std::string paths_of(const boost::json::object& page) {
    std::string all;
    for (const auto& row : page.at("leases").as_array()) all += std::string(row.at("path").as_string());
    return all;
  }
  static std::string next_of(const boost::json::object& page) {
    return page.at("next_cursor").is_null() ? "" : std::string(page.at("next_cursor").as_string());
  }

  BoardPages pages;
};

TEST_F(Pages, FromTheSecondOnNeedTheBoardNoMore) {
  const auto first = pages.page({"all", "", 2}, board_of({"/a", "/b", "/c", "/d", "/e"}));
  EXPECT_EQ(paths_of(first), "/a/b");
  EXPECT_FALSE(pages.page_at_hand({"all", next_of(first), 2})) << "who asked once may not want more";

  const auto second = pages.page({"all", next_of(first), 2}, board_of({"/a", "/b", "/c", "/d", "/e"}));
  EXPECT_EQ(paths_of(second), "/c/d");
  EXPECT_FALSE(pages.page_at_hand({"another", next_of(second), 2}));

  const auto third = pages.page_at_hand({"all", next_of(second), 2});
  ASSERT_TRUE(third);
  EXPECT_EQ(paths_of(*third), "/e");
  EXPECT_EQ(next_of(*third), "");
  EXPECT_FALSE(pages.page_at_hand({"all", next_of(second), 2})) << "it is there once";
}

TEST_F(Pages, KeepNoMoreThanTwoBoards) {
  std::vector<std::string> cursors;
  for (const char* what : {"1", "2", "3"})
    cursors.push_back(next_of(pages.page({what, "/a|id-/a", 1}, board_of({"/a", "/b", "/c"}))));

  EXPECT_FALSE(pages.page_at_hand({"1", cursors[0], 1}));
  EXPECT_TRUE(pages.page_at_hand({"2", cursors[1], 1}));
  EXPECT_TRUE(pages.page_at_hand({"3", cursors[2], 1}));
}

// However often somebody comes back for the next one.
TEST_F(Pages, AreReadAnewAfterTenSeconds) {
  BoardPages::Clock::time_point now;
  BoardPages aging([&] { return now; });
  const auto second = aging.page({"all", "/a|id-/a", 1}, board_of({"/a", "/b", "/c", "/d", "/e"}));
  now += std::chrono::seconds(8);
  const auto third = aging.page_at_hand({"all", next_of(second), 1});
  ASSERT_TRUE(third);
  now += std::chrono::seconds(8);

  EXPECT_FALSE(aging.page_at_hand({"all", next_of(*third), 1}));
}

TEST_F(Pages, MissNothingWhereTheLastRowOfTheOneBeforeIsGone) {
  EXPECT_EQ(paths_of(pages.page({"all", "/b|gone", 9}, board_of({"/a", "/b", "/c"}))), "/b/c");
  EXPECT_EQ(paths_of(pages.page({"all", "/x|gone", 9}, board_of({"/a", "/b", "/c"}))), "");
  EXPECT_EQ(next_of(pages.page({"all", "nonsense", 9}, board_of({"/a"}))), "");
}

}  // namespace
}  // namespace leasehold::daemon
