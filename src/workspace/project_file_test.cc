#include "workspace/project_file.h"

#include <gtest/gtest.h>

#include "workspace/scratch_tree.h"

namespace leasehold {
namespace {

TEST(ProjectFile, NamesTheWorkspaceAndItsScope) {
  const auto project =
      parse_project_file("workspace = \"shop/web\"\nscope = \"repo\"\nprofile = \"agent\"\n", "f");

  ASSERT_TRUE(project);
  EXPECT_EQ(project->workspace, "shop/web");
  EXPECT_EQ(project->scope, WorkspaceScope::repo);
  EXPECT_NE(project->table.find("profile"), nullptr);
}

TEST(ProjectFile, EmptyFileSaysNothing) {
  const auto project = parse_project_file("", "f");

  ASSERT_TRUE(project);
  EXPECT_EQ(project->workspace, "");
  EXPECT_EQ(project->scope, std::nullopt);
}

TEST(ProjectFile, ErrorNamesFileLineAndReason) {
  const struct {
    std::string_view text;
    std::string_view said;
  } kCases[] = {
      {"\nworkspace = 3\n", "p/.leasehold.toml:2: workspace has to be a name"},
      {"workspace = \"\"\n", ":1: workspace has to be a name"},
      {"workspace = \"a@b\"\n", ":1: workspace has to be a name"},
      {"workspace = \"-x\"\n", ":1: workspace has to be a name"},
      {"\n\nscope = \"all\"\n", ":3: scope has to be \"worktree\""},
      {"a = 1\nb = [\n", ":2: not valid TOML: "},
  };
  for (const auto& [text, said] : kCases) {
    const auto project = parse_project_file(text, "p/.leasehold.toml");
    ASSERT_FALSE(project) << text;
    EXPECT_EQ(project.error().code, Code::config_error);
    EXPECT_NE(project.error().message.find(said), std::string::npos) << project.error().message;
  }
}

TEST(ProjectFile, UnreadableFileIsAConfigError) {
  const ScratchTree tree;
  tree.folder("f");

  const auto project = read_project_file(tree / "f");

  ASSERT_FALSE(project);
  EXPECT_EQ(project.error().code, Code::config_error);
  EXPECT_NE(project.error().message.find(tree / "f"), std::string::npos);
}

}  // namespace
}  // namespace leasehold
