#include "workspace/workspace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace/scratch_tree.h"
#include "workspace/store_owner.h"

namespace leasehold {
namespace {

constexpr std::string_view kMachine = "machine";

class FindWorkspace : public testing::Test {
 protected:
  Workspace find(std::string_view folder) const {
    auto found = find_workspace(tree / folder);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(Workspace{});
  }

  std::string id(std::string_view folder, WorkspaceScope scope) const {
    return workspace_id(find(folder), scope, kMachine);
  }

  ScratchTree tree;
};

TEST_F(FindWorkspace, FolderWithoutAnythingIsUnmanaged) {
  tree.folder("a/b");

  const Workspace workspace = find("a/b");

  EXPECT_EQ(workspace.root, tree / "a/b");
  EXPECT_FALSE(workspace.managed);
  EXPECT_EQ(workspace.config_file, std::nullopt);
  EXPECT_EQ(store_dir(workspace), tree / "a/b/.leasehold");
}

TEST_F(FindWorkspace, FileWithoutAnythingAboveIsInItsFolder) {
  tree.file("a/b.ts");
  EXPECT_EQ(find("a/b.ts").root, tree / "a");
}

TEST_F(FindWorkspace, NearestConfigFileMarksTheRoot) {
  tree.file("a/.leasehold.toml", "workspace = \"outer\"");
  tree.file("a/b/.leasehold.toml", "workspace = \"inner\"\nscope = \"worktree\"");
  tree.folder("a/b/c/d");

  const Workspace workspace = find("a/b/c/d");

  EXPECT_EQ(workspace.root, tree / "a/b");
  EXPECT_EQ(workspace.config_file, tree / "a/b/.leasehold.toml");
  EXPECT_EQ(workspace.name, "inner");
  EXPECT_EQ(workspace.scope, WorkspaceScope::worktree);
  EXPECT_TRUE(workspace.managed);
}

TEST_F(FindWorkspace, StoreMarksTheRootToo) {
  tree.file("a/.leasehold/leases.db");
  tree.folder("a/b");

  EXPECT_EQ(find("a/b").root, tree / "a");
  EXPECT_TRUE(find("a/b").managed);
}

TEST_F(FindWorkspace, WhatAgentsSawOfFilesIsNoStore) {
  tree.file("a/.leasehold/seen/s1");

  EXPECT_FALSE(find("a").managed);
}

TEST_F(FindWorkspace, StartIsResolvedAndNeedNotExist) {
  tree.file("a/.leasehold.toml");
  tree.folder("a/b");
  tree.link("elsewhere", "a/b");

  EXPECT_EQ(find("elsewhere").root, tree / "a");
  EXPECT_EQ(find("a/b/not/yet").root, tree / "a");
}

TEST_F(FindWorkspace, RelativeStartIsRefused) {
  const auto found = find_workspace("a/b");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::invalid_path);
}

TEST_F(FindWorkspace, BrokenConfigFileIsAnErrorThatNamesTheLine) {
  tree.file("a/.leasehold.toml", "\nscope = 1\n");

  const auto found = find_workspace(tree / "a");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::config_error);
  EXPECT_NE(found.error().message.find(tree / "a/.leasehold.toml" + ":2: scope"), std::string::npos);
}

TEST_F(FindWorkspace, GitFolderThatIsNoRepositoryIsPassed) {
  tree.file("a/.leasehold.toml");
  tree.folder("a/b/.git");

  EXPECT_EQ(find("a/b").root, tree / "a");
}

TEST_F(FindWorkspace, GitFileThatLeadsNowhereStillMarksTheRoot) {
  for (const std::string_view text : {"gitdir: /no/such/place\n", "gitdir: \n", "nonsense", ""}) {
    tree.file("a/.git", text);

    const Workspace workspace = find("a");

    EXPECT_EQ(workspace.root, tree / "a");
    EXPECT_EQ(workspace.git_dir, std::nullopt);
    ASSERT_EQ(workspace.notes.size(), 1u);
    EXPECT_NE(workspace.notes[0].find(tree / "a/.git"), std::string::npos) << workspace.notes[0];
  }
}

TEST_F(FindWorkspace, NobodyMakesAnOpenFolderLoseItsRepository) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to others";
  tree.file("open/.git", "gitdir: /no/such/place\n");
  ASSERT_EQ(::chmod((tree / "open").c_str(), 01777), 0);
  EXPECT_TRUE(has_lost_repository(find("open")));

  ASSERT_EQ(::chown((tree / "open/.git").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(has_lost_repository(find("open")));
}

TEST_F(FindWorkspace, NobodyPlantsSettingsInAnOpenFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to others";
  tree.file("open/.leasehold.toml", "workspace = \"evil\"");
  tree.folder("open/mine");
  ASSERT_EQ(::chown((tree / "open/.leasehold.toml").c_str(), 12345, 12345), 0);
  ASSERT_EQ(::chmod((tree / "open").c_str(), 01777), 0);

  EXPECT_EQ(find("open/mine").root, tree / "open/mine");
  EXPECT_FALSE(find("open/mine").managed);

  // A whole tree that belongs to somebody else is theirs to configure.
  ASSERT_EQ(::chown((tree / "open").c_str(), 12345, 12345), 0);
  EXPECT_EQ(find("open/mine").root, tree / "open");
}

// Else its leases would be passed over, and others given out.
TEST_F(FindWorkspace, ARepositoryThatIsClosedToUsIsNotPassedOver) {
  tree.file("a/.git/HEAD", "ref: refs/heads/main");
  ASSERT_EQ(::chmod(tree.root().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((tree / "a/.git").c_str(), 0), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65'534) != 0) ::_exit(2);
    const auto found = find_workspace(tree / "a/b");
    const bool is_refused = !found && found.error().code == Code::unavailable &&
                            found.error().message.find(tree / "a/.git") != std::string::npos;
    ::_exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(::chmod((tree / "a/.git").c_str(), 0700), 0);
  EXPECT_EQ(status, 0);
}

class FindGitWorkspace : public FindWorkspace {
 protected:
  void SetUp() override {
    if (tree.run(".", "git init -q main && echo done").empty()) GTEST_SKIP() << "git is not installed";
    ASSERT_NE(tree.run("main", "git commit -q --allow-empty -m x && echo done"), "");
  }

  void set_origin(std::string_view folder, std::string_view url) const {
    ASSERT_NE(tree.run(folder, "git remote add origin '" + std::string(url) + "' && echo done"), "");
  }
  void add_worktree(std::string_view name) const {
    ASSERT_NE(tree.run("main", "git worktree add -q ../" + std::string(name) + " && echo done"), "");
  }
};

TEST_F(FindGitWorkspace, RootIsTheTopOfTheWorkTree) {
  tree.folder("main/src/deep");

  const Workspace workspace = find("main/src/deep");

  EXPECT_EQ(workspace.root, tree / "main");
  EXPECT_EQ(workspace.git_dir, tree / "main/.git");
  EXPECT_EQ(workspace.git_common_dir, tree / "main/.git");
  EXPECT_FALSE(workspace.managed);
  EXPECT_EQ(store_dir(workspace), tree / "main/.git/leasehold");
  EXPECT_EQ(find("main/.git/hooks").root, tree / "main");
}

TEST_F(FindGitWorkspace, StoreInTheCommonDirMakesAllWorkTreesManaged) {
  add_worktree("two");
  EXPECT_FALSE(find("two").managed);

  tree.file("main/.git/leasehold/leases.db");

  EXPECT_TRUE(find("main").managed);
  EXPECT_TRUE(find("two").managed);
}

TEST_F(FindGitWorkspace, ConfigFileAboveTheWorkTreeManagesIt) {
  tree.file(".leasehold.toml", "workspace = \"all\"");

  EXPECT_EQ(find("main").root, tree / "main");
  EXPECT_EQ(find("main").config_file, tree / ".leasehold.toml");
  EXPECT_TRUE(find("main").managed);
}

TEST_F(FindGitWorkspace, ConfigFileInsideTheWorkTreeDoesNotSplitIt) {
  tree.file("main/packages/a/.leasehold.toml", "workspace = \"a\"");

  const Workspace inner = find("main/packages/a");

  EXPECT_EQ(inner.root, tree / "main");
  EXPECT_EQ(inner.config_file, std::nullopt);
  ASSERT_EQ(inner.notes.size(), 1u);
  EXPECT_NE(inner.notes[0].find("is not used"), std::string::npos) << inner.notes[0];
  EXPECT_TRUE(find("main").notes.empty());
}

TEST_F(FindGitWorkspace, WorkTreesShareTheCommonDirOnly) {
  add_worktree("two");

  const Workspace two = find("two");

  EXPECT_EQ(two.root, tree / "two");
  EXPECT_EQ(two.git_dir, tree / "main/.git/worktrees/two");
  EXPECT_EQ(two.git_common_dir, tree / "main/.git");
}

TEST_F(FindGitWorkspace, FileBelongsToTheInnermostWorkTree) {
  ASSERT_NE(tree.run("main", "git worktree add -q .worktrees/two && echo done"), "");
  tree.file("main/.worktrees/two/src/a.ts");
  tree.link("main/alias.ts", ".worktrees/two/src/a.ts");

  EXPECT_EQ(find("main/.worktrees/two/src/a.ts").root, tree / "main/.worktrees/two");
  EXPECT_EQ(find("main/alias.ts").root, tree / "main/.worktrees/two");
  EXPECT_EQ(find("main/src/a.ts").root, tree / "main");
}

TEST_F(FindGitWorkspace, WorkTreeWithARelativeLinkIsFound) {
  add_worktree("two");
  tree.file("two/.git", "gitdir: ../main/.git/worktrees/two\n");

  EXPECT_EQ(find("two").git_dir, tree / "main/.git/worktrees/two");
}

TEST_F(FindGitWorkspace, SubmoduleIsAWorkspaceOfItsOwn) {
  ASSERT_NE(tree.run(".", "git clone -q main outer && echo done"), "");
  ASSERT_NE(
      tree.run("outer", "git -c protocol.file.allow=always submodule --quiet add ../main inner && echo done"),
      "");

  const Workspace inner = find("outer/inner");

  EXPECT_EQ(inner.root, tree / "outer/inner");
  EXPECT_EQ(inner.git_common_dir, tree / "outer/.git/modules/inner");
}

TEST_F(FindGitWorkspace, WithoutAnOriginIdsAreOfThisMachineAndRepository) {
  add_worktree("two");
  ASSERT_NE(tree.run(".", "git init -q other && echo done"), "");

  EXPECT_EQ(id("main", WorkspaceScope::repo), id("two", WorkspaceScope::repo));
  EXPECT_NE(id("main", WorkspaceScope::repo), id("other", WorkspaceScope::repo));
  EXPECT_NE(id("main", WorkspaceScope::worktree), id("two", WorkspaceScope::worktree));
  EXPECT_NE(id("main", WorkspaceScope::repo),
            workspace_id(find("main"), WorkspaceScope::repo, "another machine"));
}

TEST_F(FindGitWorkspace, OriginNamesAllClonesAndWorkTreesTogether) {
  set_origin("main", "git@github.com:Foo/bar.git");
  add_worktree("two");
  ASSERT_NE(tree.run(".", "git init -q clone && echo done"), "");
  set_origin("clone", "https://me:secret@github.com/foo/bar");

  EXPECT_EQ(find("clone").origin, "github.com/foo/bar");
  EXPECT_EQ(id("main", WorkspaceScope::repo), id("clone", WorkspaceScope::repo));
  EXPECT_EQ(id("main", WorkspaceScope::repo), id("two", WorkspaceScope::repo));
  EXPECT_EQ(id("main", WorkspaceScope::repo),
            workspace_id(find("clone"), WorkspaceScope::repo, "another machine"));
  EXPECT_NE(id("main", WorkspaceScope::worktree), id("clone", WorkspaceScope::worktree));
  EXPECT_NE(id("main", WorkspaceScope::worktree), id("two", WorkspaceScope::worktree));
}

TEST_F(FindGitWorkspace, InItsOwnStoreItIsTheSameWhereverItIsAndWhoeverLooks) {
  add_worktree("two");
  const auto own_id = [this](const std::string& folder, WorkspaceScope scope,
                             std::string_view machine = kMachine) {
    const Workspace workspace = find(folder);
    return workspace_id_in(store_dir(workspace), workspace, scope, machine);
  };
  const std::string before = own_id("main", WorkspaceScope::worktree);
  EXPECT_NE(before, own_id("two", WorkspaceScope::worktree));
  EXPECT_EQ(own_id("main", WorkspaceScope::repo), own_id("two", WorkspaceScope::repo));

  EXPECT_EQ(own_id("main", WorkspaceScope::worktree, "of a container"), before);
  set_origin("main", "git@github.com:foo/bar.git");
  EXPECT_EQ(own_id("main", WorkspaceScope::worktree), before);
  ASSERT_NE(tree.run(".", "mv main moved && echo done"), "");
  EXPECT_EQ(own_id("moved", WorkspaceScope::worktree), before);

  const Workspace moved = find("moved");
  std::filesystem::create_directory_symlink("moved", tree / "link");
  for (const char* spelling : {"link/.git/leasehold", "moved/.git/leasehold/", "moved/./.git/leasehold"})
    EXPECT_EQ(workspace_id_in(tree / spelling, moved, WorkspaceScope::worktree, kMachine), before)
        << spelling;
  EXPECT_EQ(workspace_id_in(tree / "shared", moved, WorkspaceScope::repo, kMachine),
            workspace_id(moved, WorkspaceScope::repo, kMachine))
      << "others use that store, too";
}

TEST_F(FindGitWorkspace, RelativeOriginIsSeenFromTheRoot) {
  tree.run("main", "git config remote.origin.url ../up.git");
  EXPECT_EQ(find("main").origin, tree / "up");
}

TEST_F(FindGitWorkspace, NameInTheConfigFileGoesBeforeTheOrigin) {
  set_origin("main", "git@github.com:foo/bar.git");
  tree.file("main/.leasehold.toml", "workspace = \"shop\"");

  EXPECT_EQ(id("main", WorkspaceScope::repo), "shop");
  EXPECT_TRUE(id("main", WorkspaceScope::worktree).starts_with("shop@"));
}

// Stored in every record: if this fails, leases held by another version are not seen.
TEST(WorkspaceId, IsTheSameForEver) {
  Workspace workspace;
  workspace.root = "/w";
  EXPECT_EQ(workspace_id(workspace, WorkspaceScope::repo, "m"), "f49f11a97b2d3d98");
  EXPECT_EQ(workspace_id(workspace, WorkspaceScope::worktree, "m"), "f49f11a97b2d3d98@65bdb3e572c3d109");
  workspace.git_dir = workspace.git_common_dir = "/w/.git";
  EXPECT_EQ(workspace_id(workspace, WorkspaceScope::repo, "m"), "72fd4ce25f988d65");
  workspace.origin = "github.com/foo/bar";
  EXPECT_EQ(workspace_id(workspace, WorkspaceScope::repo, "m"), "e1fd941491b87850");
  EXPECT_EQ(workspace_id_in("/w/.git/leasehold", workspace, WorkspaceScope::repo, "m"), "here");
  EXPECT_EQ(workspace_id_in("/w/.git/leasehold", workspace, WorkspaceScope::worktree, "m"),
            "here@9938be9442c49c48");
  workspace.name = "named";
  EXPECT_EQ(workspace_id_in("/w/.git/leasehold", workspace, WorkspaceScope::repo, "m"), "here");
  EXPECT_EQ(workspace_id_in("/elsewhere", workspace, WorkspaceScope::repo, "m"), "named");
  workspace.git_dir = "/w/.git/worktrees/two";
  EXPECT_EQ(workspace_id_in("/w/.git/leasehold", workspace, WorkspaceScope::worktree, "m"),
            "here@66c38de8342796a8");
}

}  // namespace
}  // namespace leasehold
