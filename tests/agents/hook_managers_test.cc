// The managers of git hooks that people use, and ours beside them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "agents_folder.h"
#include "cli/scene.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

class HookManagers : public Scene {
 protected:
  void SetUp() override {
    programs_ = agents_folder();
    if (programs_.empty()) GTEST_SKIP() << kNoAgents;
    ASSERT_EQ(sh("git init -q -b main . && rm -rf .git/hooks && git add docs && git commit -q -m first").exit,
              0);
  }

  Ran sh(const std::string& line, const std::string& agent = "x") const {
    std::vector<std::string> variables = environment(agent);
    const std::string binaries = fs::path(LEASE_BINARY).parent_path();
    variables.insert(variables.end(),
                     {fmt::format("PATH={}:{}:/usr/local/bin:/usr/bin:/bin", binaries, programs_),
                      "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.org", "GIT_COMMITTER_NAME=x",
                      "GIT_COMMITTER_EMAIL=x@example.org", "LEFTHOOK_BIN=" + programs_ + "/lefthook"});
    return StartedProgram({"/bin/sh", "-c", line}, variables, root()).wait();
  }
  void write(const std::string& file, const std::string& text) const {
    add(file);
    std::ofstream(root() + "/" + file) << text;
  }
  std::map<std::string, std::string> files_in(const std::string& folder) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root() + "/" + folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      files[entry.path()] = {std::istreambuf_iterator<char>(stream), {}};
    }
    return files;
  }

  // The manager's own hook makes the file "ran".
  void expect_that_both_decide(const std::string& folder) const {
    const auto before = files_in(folder);
    ASSERT_EQ(sh("lease init --agents '' --git-hooks").exit, 0);
    ASSERT_EQ(sh("lease acquire docs/x.md", "ann").exit, 0);
    const Ran refused = sh("rm -f ran; echo x >> docs/x.md; git commit -q -a -m more", "bob");
    EXPECT_EQ(refused.exit, 1);
    EXPECT_TRUE(contains(refused.err, "docs/x.md is held by ann")) << refused.err;
    const Ran done = sh("git commit -q -a -m more", "ann");
    EXPECT_EQ(done.exit, 0) << done.err;
    EXPECT_TRUE(fs::exists(root() + "/ran")) << done.err;
    ASSERT_EQ(sh("lease init --uninstall").exit, 0);
    EXPECT_EQ(files_in(folder), before);
  }

 private:
  std::string programs_;
};

TEST_F(HookManagers, Husky) {
  write("package.json", "{}\n");
  ASSERT_EQ(sh("husky").exit, 0);
  write(".husky/pre-commit", "touch ran\n");
  expect_that_both_decide(".husky");
}

TEST_F(HookManagers, Lefthook) {
  write("lefthook.yml", "pre-commit:\n  jobs:\n    - run: touch ran\n");
  ASSERT_EQ(sh("lefthook install").exit, 0);
  expect_that_both_decide(".git/hooks");
}

TEST_F(HookManagers, PreCommit) {
  if (sh("command -v pre-commit").exit != 0) GTEST_SKIP() << "pre-commit is not installed";
  write(".pre-commit-config.yaml",
        "repos:\n- repo: local\n  hooks:\n  - {id: x, name: x, entry: touch ran, language: system, "
        "always_run: true,"
        " pass_filenames: false}\n");
  ASSERT_EQ(sh("git add .pre-commit-config.yaml && pre-commit install").exit, 0);
  expect_that_both_decide(".git/hooks");
}

TEST_F(HookManagers, PreCommitAfterUsRunsOursFirst) {
  if (sh("command -v pre-commit").exit != 0) GTEST_SKIP() << "pre-commit is not installed";
  write(".pre-commit-config.yaml", "repos: []\n");
  ASSERT_EQ(
      sh("git add .pre-commit-config.yaml && lease init --agents '' --git-hooks && pre-commit install").exit,
      0);
  ASSERT_EQ(sh("lease acquire docs/x.md", "ann").exit, 0);
  const Ran refused = sh("echo x >> docs/x.md; git commit -q -a -m more", "bob");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(contains(refused.err + refused.out, "docs/x.md is held by ann")) << refused.err << refused.out;
  ASSERT_EQ(sh("lease init --uninstall && pre-commit uninstall").exit, 0);
  EXPECT_TRUE(files_in(".git/hooks").empty());
}

}  // namespace
}  // namespace leasehold
