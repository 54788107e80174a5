#include "workspace/trees_below.h"

#include <gtest/gtest.h>

#include <set>

#include "workspace/scratch_tree.h"

namespace leasehold {
namespace {

using Roots = std::set<std::string>;

class TreesBelowAFolder : public testing::Test {
 protected:
  Roots below(std::string_view where, std::string_view folder) const {
    const auto workspace = find_workspace(tree / where);
    EXPECT_TRUE(workspace);
    const auto found = TreesBelow().find(*workspace, folder.empty() ? tree.root() : tree / folder);
    return {found.begin(), found.end()};
  }

  ScratchTree tree;
};

TEST_F(TreesBelowAFolder, AreFoundByALookAtIt) {
  tree.file(".leasehold.toml");
  tree.file("a/b/.leasehold.toml");
  tree.file("a/c/d/.leasehold.toml");
  tree.link("a/link", "../elsewhere");
  tree.file("elsewhere/.leasehold.toml");

  EXPECT_EQ(below(".", "a"), (Roots{tree / "a/b", tree / "a/c/d"}));
  EXPECT_EQ(below("a/b", "a/b"), Roots{}) << "it is one itself";
  EXPECT_EQ(below("a/b", "a"), Roots{}) << "what is beside the tree is not looked for";
}

TEST_F(TreesBelowAFolder, OfItsRepositoryAreKnownHoweverMuchThereIsToLookAt) {
  if (tree.run(".", "git init -q main && echo done").empty()) GTEST_SKIP() << "git is not installed";
  ASSERT_NE(tree.run("main", "git commit -q --allow-empty -m x && echo done"), "");
  ASSERT_NE(tree.run("main", "git worktree add -q .claude/worktrees/w1 && echo done"), "");
  ASSERT_NE(tree.run("main", "git worktree add -q ../beside && echo done"), "");
  ASSERT_NE(tree.run("main", "git worktree add -q ../gone && rm -r ../gone && echo done"), "");
  for (int i = 0; i < 2'500; ++i) tree.file("main/.claude/files/" + std::to_string(i));

  EXPECT_EQ(below("main", "main/.claude"), (Roots{tree / "main/.claude/worktrees/w1"}));
  EXPECT_EQ(below("main", "main/src"), Roots{});
  EXPECT_EQ(below("main", ""), (Roots{tree / "main/.claude/worktrees/w1", tree / "beside"}));
  EXPECT_EQ(below("beside", ""), (Roots{tree / "main/.claude/worktrees/w1", tree / "main"}));
}

}  // namespace
}  // namespace leasehold
