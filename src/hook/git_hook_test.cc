// Commits of a real git.
#include "hook/git_hook.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "run/capture.h"
#include "support/temp_folder.h"

namespace leasehold {
namespace {

class GitHookTest : public testing::Test {
 protected:
  GitHookTest() : here(std::filesystem::current_path()) {
    std::filesystem::current_path(folder.path());  // As git runs its hooks.
    git({"init", "-q", "-b", "main"});
    git({"config", "user.name", "x"});
    git({"config", "user.email", "x@example.org"});
    write(".leasehold.toml", "");
    write("a", "1");
    write("dir/b c", "1\n2\n3\n4\n5\n");
    git({"add", "."});
    git({"commit", "-q", "-m", "first"});
    workspace = std::move(*open_workspace({.place = folder.path()}));
  }
  ~GitHookTest() override { std::filesystem::current_path(here); }

  static void git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "git");
    const auto done = capture(arguments);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
  }

  static void write(const std::string& path, const std::string& text) {
    if (const auto parent = std::filesystem::path(path).parent_path(); !parent.empty()) {
      std::filesystem::create_directories(parent);
    }
    std::ofstream(path) << text;
  }

  static Caller caller(const std::string& agent) {
    return {.holder = {.owner = {agent, "s-" + agent}}, .whole_session = true};
  }
  static Committer who(const std::string& agent) {
    return {.caller = caller(agent), .agent = std::nullopt, .process = std::nullopt};
  }

  void acquire(const std::string& agent, const std::string& path, bool subtree = false) const {
    const auto wanted = workspace->wanted({{.path = path, .subtree = subtree}}, {.pairs = false});
    ASSERT_TRUE(wanted);
    const auto answer = workspace->client()->acquire({.caller = caller(agent), .paths = *wanted});
    ASSERT_TRUE(answer && std::holds_alternative<Granted>(answer->decision));
  }

  // "path:agent" of each file that is in somebody else's hands.
  std::string trespasses(const std::string& agent) const {
    const auto found = before_commit(*workspace, who(agent));
    if (!found) return found.error().message;
    std::string text;
    for (const Trespass& one : *found) text += one.path + ":" + one.lease.holder.owner.agent_id + " ";
    return text;
  }

  const std::filesystem::path here;
  const TempFolder folder;
  std::unique_ptr<OpenWorkspace> workspace;
};

TEST_F(GitHookTest, ACommitOfAnothersFilesIsSeen) {
  acquire("ann", "a");
  write("a", "2");
  write("new", "x");
  git({"add", "."});

  EXPECT_EQ(trespasses("bob"), "a:ann ");
  EXPECT_EQ(trespasses("ann"), "");
}

TEST_F(GitHookTest, DeletionsAndBothSidesOfARenameCount) {
  acquire("ann", "dir/b c");
  acquire("cyd", "moved");
  git({"mv", "dir/b c", "moved"});
  EXPECT_EQ(trespasses("bob"), "dir/b c:ann moved:cyd ");
  EXPECT_EQ(trespasses("ann"), "moved:cyd ");
}

TEST_F(GitHookTest, AFolderCoversAllBelow) {
  acquire("ann", "dir", true);
  write("dir/new\nline", "x");
  git({"add", "."});
  EXPECT_EQ(trespasses("bob"), "dir/new\nline:ann ");
}

TEST_F(GitHookTest, WhatIsNotCommittedDoesNotMatter) {
  acquire("ann", "a");
  write("a", "2");
  EXPECT_EQ(trespasses("bob"), "");
}

TEST_F(GitHookTest, TheFirstCommitOfAllIsOneToo) {
  git({"checkout", "-q", "--orphan", "other"});
  acquire("ann", "a");
  EXPECT_EQ(trespasses("bob"), "a:ann ");
}

TEST_F(GitHookTest, ALinkIsNobodysFile) {
  std::filesystem::create_symlink("a", "link");
  git({"add", "."});
  git({"commit", "-q", "-m", "a link"});
  acquire("ann", "a");
  std::filesystem::remove("link");
  std::filesystem::create_symlink("dir", "link");
  git({"add", "."});
  EXPECT_EQ(trespasses("bob"), "") << "what it leads to is not in this commit";
}

TEST_F(GitHookTest, AFileThatBecameALinkIsTheFileItWas) {
  acquire("ann", "a");
  std::filesystem::remove("a");
  std::filesystem::create_symlink("dir/b c", "a");
  git({"add", "."});
  EXPECT_EQ(trespasses("bob"), "a:ann ");
}

TEST_F(GitHookTest, WhatLiesInAFolderThatBecameALinkIsWhatWasThere) {
  write("other/b c", "1");
  git({"add", "."});
  git({"commit", "-q", "-m", "other"});
  acquire("ann", "dir/b c");
  acquire("cyd", "other/b c");
  std::filesystem::remove_all("dir");
  std::filesystem::create_symlink("other", "dir");
  git({"add", "-A"});

  EXPECT_EQ(trespasses("bob"), "dir/b c:ann ");
}

TEST_F(GitHookTest, TheCommitCountsAndNotWhatTheDiskHasBesides) {
  acquire("ann", "a");
  write("a", "2");
  git({"add", "."});
  std::filesystem::remove("a");
  std::filesystem::create_symlink("dir", "a");
  EXPECT_EQ(trespasses("bob"), "a:ann ");
}

TEST_F(GitHookTest, WhatHooksTookForItsProcessIsTheCommittersOwn) {
  const auto process = workspace->own_process();
  ASSERT_TRUE(process);
  const auto take = [&](const std::string& agent, const std::string& path) {
    const Caller holder = {.holder = {.owner = {agent, "s"}, .process = process}};
    ASSERT_TRUE(workspace->client()->acquire({.caller = holder, .paths = {{.path = path}}}));
  };
  take("windsurf", "/a");
  take("people", "/dir/b c");
  write("a", "2");
  write("dir/b c", "2");
  git({"add", "."});
  Committer committer = who("x");
  EXPECT_EQ(before_commit(*workspace, committer)->size(), 2U);
  committer.process = process;

  const auto found = before_commit(*workspace, committer);

  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().path, "dir/b c") << "several people may use one shell";
}

TEST_F(GitHookTest, ACommitGivesItsFilesBack) {
  acquire("ann", "a");
  acquire("ann", "dir/b c");
  acquire("bob", "new");
  write("a", "2");
  write("new", "x");
  git({"add", "."});
  git({"commit", "-q", "-m", "second"});

  const auto released = after_commit(*workspace, who("ann"));

  ASSERT_TRUE(released) << released.error().message;
  EXPECT_EQ(released->count, 1U);
  EXPECT_TRUE(released->notices.empty());
  const auto left = workspace->client()->leases();
  ASSERT_EQ(left->size(), 2U);
  EXPECT_EQ((*left)[0].path, "/dir/b c");
  EXPECT_EQ((*left)[1].path, "/new");
}

TEST_F(GitHookTest, ACommitLeavesToALeaseRunWhatItHas) {
  acquire("ann", "a");
  acquire("ann", "dir/b c");
  write("a", "2");
  write("dir/b c", "2");
  git({"add", "."});
  git({"commit", "-q", "-m", "second"});
  Committer ann = who("ann");
  ann.kept = {workspace->client()->leases()->front().id, {"of another time"}};

  const auto released = after_commit(*workspace, ann);

  ASSERT_TRUE(released) << released.error().message;
  EXPECT_EQ(released->count, 1U);
  const auto left = workspace->client()->leases();
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().id, ann.kept.front());
}

TEST_F(GitHookTest, ACommitPassesOnWhatItsMakerIsToBeTold) {
  acquire("ann", "a");
  acquire("bob", "dir/b c");
  const Caller bob = who("bob").caller;
  ASSERT_TRUE(workspace->client()->transfer(
      {.caller = bob, .which = {.paths = {"/dir/b c"}}, .to = who("ann").caller.holder, .note = "yours"}));
  write("a", "2");
  git({"add", "."});
  git({"commit", "-q", "-m", "second"});

  const auto released = after_commit(*workspace, who("ann"));

  ASSERT_TRUE(released) << released.error().message;
  ASSERT_EQ(released->notices.size(), 1U);
  EXPECT_EQ(released->notices.front().reason, "yours");
}

}  // namespace
}  // namespace leasehold
