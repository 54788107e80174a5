#include "workspace/disk_pairs.h"

#include <gtest/gtest.h>

#include <utility>

#include "workspace/scratch_tree.h"

namespace leasehold {
namespace {

class DiskPairs : public testing::Test {
 protected:
  DiskPairs() : rules(std::move(*PairRules::compile(default_pair_rules()))) {
    workspace.root = tree / "ws";
    tree.file("ws/src/a.ts");
  }

  std::vector<PairedPath> pairs(std::vector<std::string> keys) const {
    return pairs_on_disk(workspace, rules, keys);
  }

  ScratchTree tree;
  Workspace workspace;
  PairRules rules;
};

TEST_F(DiskPairs, OnlyExistingFilesCount) {
  tree.file("ws/tests/a.test.ts");
  tree.folder("ws/src/a.test.ts");

  EXPECT_EQ(pairs({"/src/a.ts", "/src/missing.ts", "port:3000"}),
            (std::vector<PairedPath>{{"/tests/a.test.ts", {"/src/a.ts"}, "javascript-tests-folder"}}));
}

TEST_F(DiskPairs, TestBehindALinkIsKnownByItsOwnKey) {
  tree.file("ws/shared/a.test.ts");
  tree.link("ws/tests", "shared");
  tree.link("ws/test", "shared");

  EXPECT_EQ(pairs({"/src/a.ts"}),
            (std::vector<PairedPath>{{"/shared/a.test.ts", {"/src/a.ts"}, "javascript-tests-folder"}}));
  EXPECT_TRUE(pairs({"/src/a.ts", "/shared/a.test.ts"}).empty());
}

TEST_F(DiskPairs, TestOutsideTheWorkspaceIsLeftOut) {
  tree.file("elsewhere/a.test.ts");
  tree.link("ws/tests", "../elsewhere");

  EXPECT_TRUE(pairs({"/src/a.ts"}).empty());
}

TEST_F(DiskPairs, RootOfTheFileSystemIsAWorkspaceToo) {
  tree.file("ws/src/a.spec.ts");
  DiskFiles files("/");

  EXPECT_TRUE(files.exists(tree / "ws/src/a.spec.ts"));
  EXPECT_FALSE(files.exists(tree / "ws/src/b.spec.ts"));
  EXPECT_FALSE(files.exists(tree / "ws/none/b.spec.ts"));
  EXPECT_FALSE(files.exists("/"));
}

}  // namespace
}  // namespace leasehold
