#include "cli/held_twice.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

BoardRow held(const std::string& agent, const Scope& scope, Mode mode = Mode::exclusive) {
  BoardRow row;
  row.lease.path = scope.path;
  row.lease.subtree = scope.subtree;
  row.lease.mode = mode;
  row.lease.holder.owner.agent_id = agent;
  row.live = true;
  return row;
}

bool is_twice(std::vector<BoardRow> rows) {
  return held_twice({.now = {}, .wall = {}, .rows = std::move(rows)}).has_value();
}

TEST(HeldTwice, IsOneFileOrOneBelowAnothersFolder) {
  EXPECT_TRUE(is_twice({held("ann", {"/a"}), held("bob", {"/a"})}));
  EXPECT_TRUE(is_twice({held("ann", {"/a", true}), held("bob", {"/a/b/c"})}));
  EXPECT_TRUE(is_twice({held("ann", {"/a", true}), held("bob", {"/a/b"}, Mode::shared)}));
}

TEST(HeldTwice, IsNotWhatGoesTogether) {
  EXPECT_FALSE(is_twice({held("ann", {"/a"}, Mode::shared), held("bob", {"/a"}, Mode::shared)}));
  EXPECT_FALSE(is_twice({held("ann", {"/a", true}), held("ann", {"/a/b"})}));
  EXPECT_FALSE(is_twice({held("ann", {"/a"}), held("bob", {"/a/b"})}));
  EXPECT_FALSE(is_twice({held("ann", {"/a", true}), held("bob", {"/ab"})}));
}

TEST(HeldTwice, IsNotWhatIsOverOrWaits) {
  BoardRow over = held("ann", {"/a"});
  over.live = false;
  BoardRow waiting = held("cy", {"/a"});
  waiting.lease.status = Status::pending;

  EXPECT_FALSE(is_twice({over, held("bob", {"/a"}), waiting}));
}

}  // namespace
}  // namespace leasehold
