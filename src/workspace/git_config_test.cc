#include "workspace/git_config.h"

#include <gtest/gtest.h>

#include <array>

#include "workspace/scratch_tree.h"

namespace leasehold {
namespace {

std::optional<std::string> origin_url(std::string_view text) {
  return git_config_value(text, {.section = "remote", .subsection = "origin", .key = "url"});
}

// Each is also shown to git itself, below.
constexpr std::array<std::string_view, 24> kFiles = {
    "[remote \"origin\"]\n\turl = git@github.com:foo/bar.git\n\tfetch = "
    "+refs/heads/*:refs/remotes/origin/*\n",
    "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = first\n\turl = second\n",
    "[remote \"other\"]\nurl = no\n[remote \"origin\"]\nurl = yes\n",
    "[remote \"origin\"] url = on-the-line\n",
    "[REMOTE \"origin\"]\nURL = case\n",
    "[remote \"ORIGIN\"]\nurl = subsections keep their case\n",
    "[remote.origin]\nurl = old style\n",
    "[remote \"ori\\gin\"]\nurl = escaped\n",
    "[remote \"origin\"]\nurl = a b   c   # comment\n",
    "[remote \"origin\"]\nurl = \"a # b ; c  \"  ; comment\n",
    "[remote \"origin\"]\nurl = a\\\\b\\\"c\n",
    "[remote \"origin\"]\nurl = a\\\nb\n",
    "[remote \"origin\"]\r\n\turl = windows\r\n",
    "# url = x\n; [remote \"origin\"]\n\n   [remote   \"origin\"]\n  url=tight\n",
    "\xEF\xBB\xBF[remote \"origin\"]\nurl = bom\n",
    "[remote \"origin\"]\nurl = no newline at the end",
    "[remote \"origin\"]\npushurl = p\n",
    "[remote]\nurl = no subsection\n",
    "[remote \"origin\"]\nurl = a\"b c\"d\n",
    "",
    "[remote \"origin\"]\n1url = bad key\nurl = after\n",
    "[remote \"origin\nurl = unclosed\n",
    "[remote \"origin\"]\nurl = \"unclosed\n",
    "[remote \"origin\"]\nurl = bad \\escape\n",
};

TEST(GitConfig, ReadsWhatGitReads) {
  const ScratchTree tree;
  if (tree.run(".", "git --version").empty()) GTEST_SKIP() << "git is not installed";

  for (const std::string_view text : kFiles) {
    tree.file("config", text);
    std::string said = tree.run(".", "git config --file config --get-all remote.origin.url");
    said.resize(std::min(said.find('\n'), said.size()));

    EXPECT_EQ(origin_url(text).value_or(""), said) << text;
  }
}

TEST(GitConfig, SettingWithoutAValueIsNone) {
  EXPECT_EQ(origin_url("[remote \"origin\"]\nurl\nurl = x\n"), "x");
  EXPECT_EQ(origin_url("[remote \"origin\"]\nurl =\n"), std::nullopt);
}

}  // namespace
}  // namespace leasehold
