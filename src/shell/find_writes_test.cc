// What the table of command lines (tests/shell) cannot show: bounds, garbage, and folders that are only told
// of.
#include "shell/find_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "util/path_text.h"

namespace leasehold::shell {
namespace {

// A tree that is nowhere.
class ToldFolder : public FolderView {
 public:
  std::set<std::string> files = {"/w/a", "/w/b", "/w/d/c"};
  std::map<std::string, std::string> texts;

  bool exists(const std::string& path) const override { return files.contains(path) || is_folder(path); }
  bool is_folder(const std::string& path) const override {
    const auto next = files.lower_bound(path + '/');
    return next != files.end() && next->starts_with(path + '/');
  }
  std::optional<std::vector<std::string>> names(const std::string& folder) const override {
    std::set<std::string> found;
    for (const std::string& file : files) {
      if (const auto rest = below(file, folder))
        found.insert(std::string(rest->substr(1, rest->find('/', 1) - 1)));
    }
    return std::vector(found.begin(), found.end());
  }
  std::optional<std::string> text(const std::string& path) const override {
    const auto found = texts.find(path);
    return found == texts.end() ? std::nullopt : std::optional(found->second);
  }
};

Writes ask(std::string_view command) {
  const ToldFolder files;
  return find_writes(command, {.folder = "/w", .home = "", .files = files});
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(FindWrites, LooksAtTheFolderItIsGiven) {
  EXPECT_EQ(ask("rm d/*").files, (std::vector<Write>{{.path = "/w/d/c"}}));
  EXPECT_EQ(ask("cp a d").files, (std::vector<Write>{{.path = "/w/d/a"}}));
  EXPECT_EQ(ask("cp a e").files, (std::vector<Write>{{.path = "/w/e"}}));
  EXPECT_EQ(ask("rm -r d").files, (std::vector<Write>{{.path = "/w/d", .subtree = true, .is_whole = true}}));
}

TEST(FindWrites, TellsWhatGoesAsAWhole) {
  const auto is_whole = [](std::string_view command) {
    return std::ranges::any_of(ask(command).files, &Write::is_whole);
  };
  EXPECT_TRUE(is_whole("rm -rf d"));
  EXPECT_TRUE(is_whole("mv d e"));
  EXPECT_TRUE(is_whole("git clean -ffdx"));
  EXPECT_FALSE(is_whole("rm a"));
  EXPECT_FALSE(is_whole("git clean -fdx")) << "it leaves other repositories alone";
  EXPECT_FALSE(is_whole("git pull"));
  EXPECT_FALSE(is_whole("chmod -R a+r d"));
  EXPECT_FALSE(is_whole("find . -name '*.o' -exec rm -rf {} +"));
}

TEST(FindWrites, AHomeThatNobodyKnowsCannotBeSeen) {
  EXPECT_EQ(ask("rm ~/x").unseen.size(), 1U);
  EXPECT_EQ(ask("rm ~bob/x").unseen.size(), 1U);
}

TEST(FindWrites, GivesUpOnWhatIsNestedTooDeeply) {
  for (const std::string& part :
       {std::string("$("), std::string("("), std::string("{ "), std::string("${x:-"), std::string("if "),
        std::string("\"$("), std::string("((")}) {
    EXPECT_FALSE(ask("rm a; " + repeated(part, 10'000)).unseen.empty()) << part;
  }
  EXPECT_FALSE(ask(repeated("bash -c \"", 200)).unseen.empty());
  EXPECT_FALSE(ask("f() { f; f; }; f").unseen.empty()) << "a function that calls itself";
}

TEST(FindWrites, GivesUpOnWhatDoesTooMuch) {
  EXPECT_FALSE(ask("rm " + repeated("{a,b}", 40)).unseen.empty());
  EXPECT_FALSE(ask("rm {1..999999}").unseen.empty());
  EXPECT_FALSE(ask("for a in {1..900}; do for b in {1..900}; do rm $a$b; done; done").unseen.empty());
  EXPECT_FALSE(ask("x=a; " + repeated("x=$x$x; ", 40) + "rm $x").unseen.empty());
  EXPECT_FALSE(ask(repeated("while x; do ", 30) + "rm a" + repeated("; done", 30)).unseen.empty());
  EXPECT_FALSE(ask(std::string(std::size_t{2} << 20, 'x')).unseen.empty());
  EXPECT_FALSE(ask("x=" + repeated("a", 400) + "; rm ${x//a/b}").unseen.empty());
  EXPECT_FALSE(ask("x=" + repeated("a", 200) + repeated("; y=${x//?b/z}", 2000)).unseen.empty());
  EXPECT_FALSE(ask("rm " + repeated("*", 2000)).unseen.empty());
}

TEST(FindWrites, GivesUpOnAnExpressionOfFindThatIsTooLargeOrTooDeep) {
  EXPECT_FALSE(ask("find . " + repeated("'(' ", 1000) + "-delete").unseen.empty());
  EXPECT_FALSE(ask("find . " + repeated("! ", 1000) + "-delete").unseen.empty());
  const Writes many = ask("find . '(' -name x " + repeated("-o -name y ", 300) + "')' -delete");
  EXPECT_EQ(many.files.size(), 2U) << "each name once";
  std::string names;
  for (int i = 0; i < 400; ++i) names += " -o -name n" + std::to_string(i);
  EXPECT_EQ(ask("find . '(' -name x" + names + " ')' -delete").files,
            (std::vector<Write>{{.path = "/w", .subtree = true}}));
}

TEST(FindWrites, WhatIsFoundMayBeAFolderWithAllInIt) {
  const Write deep = {.path = "/w", .subtree = true, .name = "d", .is_deep = true};
  EXPECT_EQ(ask("find . -name d -exec rm -r {} +").files, (std::vector<Write>{deep}));
  EXPECT_EQ(ask("find . -name d -exec mv {} /tmp ';'").files.front(), deep);
  EXPECT_EQ(ask("find . -name d -exec rm {} +").files,
            (std::vector<Write>{{.path = "/w", .subtree = true, .name = "d"}}));
}

TEST(FindWrites, SubmodulesAreWhereTheirListHasThem) {
  ToldFolder files;
  files.files = {"/w/.git", "/w/.gitmodules", "/w/d/c"};
  const auto asked = [&](const std::string& list) {
    files.texts = {{"/w/.gitmodules", list}};
    return find_writes("git submodule update --init", {.folder = "/w/d", .home = "", .files = files}).files;
  };
  EXPECT_EQ(
      asked("[submodule \"one\"]\n\tpath = lib/one\n\turl = path\n[submodule \"2\"]\npath=two\n"),
      (std::vector<Write>{{.path = "/w/lib/one", .subtree = true}, {.path = "/w/two", .subtree = true}}));
  EXPECT_EQ(asked("[submodule \"one\"]\n\tpath = \"with space\"\n"),
            (std::vector<Write>{{.path = "/w", .subtree = true}}));
}

TEST(FindWrites, SettingsMayWidenWhatAFormatterWrites) {
  ToldFolder files;
  files.files.insert("/w/d/pyproject.toml");
  const auto names = [&](const std::string& settings) {
    files.texts = {{"/w/d/pyproject.toml", settings}};
    return find_writes("black d", {.folder = "/w", .home = "", .files = files}).files.size();
  };
  EXPECT_EQ(names("[tool.black]\nline-length = 99\nextend-exclude = 'x'\n"), 3U);
  EXPECT_EQ(names("[tool.black]\ninclude = 'x'\n"), 1U);
}

TEST(FindWrites, ALinkedWorkTreeHasAHeadOfItsOwnAndSharesBranches) {
  const std::string one(40, '1');
  const std::string other(40, '2');
  ToldFolder files;
  files.files.insert("/w/.git");
  files.texts = {{"/w/.git", "gitdir: /r/.git/worktrees/w\n"},
                 {"/r/.git/worktrees/w/HEAD", "ref: refs/heads/topic\n"},
                 {"/r/.git/worktrees/w/commondir", "../..\n"},
                 {"/r/.git/worktrees/w/../../refs/heads/topic", one + "\n"},
                 {"/r/.git/worktrees/w/../../refs/heads/same", one + "\n"},
                 {"/r/.git/worktrees/w/../../packed-refs",
                  "# pack-refs with: peeled\n" + other + " refs/heads/same\n" + one + " refs/remotes/o/m\n" +
                      other + " refs/tags/v1\n^" + one + "\n"}};
  const auto changes = [&](const std::string& command) {
    return !find_writes(command, {.folder = "/w/d", .home = "", .files = files}).files.empty();
  };
  for (const std::string& name : {std::string("topic"), std::string("same"), std::string("o/m"), one})
    EXPECT_FALSE(changes("git switch " + name)) << name;
  for (const std::string& name : {std::string("main"), std::string("v1"), std::string("m"), other,
                                  std::string("../heads/same"), std::string("topic~1")})
    EXPECT_TRUE(changes("git switch " + name)) << name;
  EXPECT_TRUE(changes("git commit -m x; git switch same"));
  EXPECT_FALSE(changes("git status; git switch same"));
}

TEST(FindWrites, TakesAnyBytes) {
  for (const std::string& text : {std::string(),
                                  std::string("\0", 1),
                                  std::string("rm \xff\xfe"),
                                  std::string("<<"),
                                  std::string("<<x"),
                                  std::string("$'\\"),
                                  std::string("a=("),
                                  std::string("case x in"),
                                  std::string("for"),
                                  std::string(">"),
                                  std::string("${}"),
                                  std::string("${"),
                                  std::string("\\"),
                                  std::string("function"),
                                  std::string("f()"),
                                  std::string("99999999999>x"),
                                  std::string("{x}>y"),
                                  std::string("xargs"),
                                  std::string("find -exec"),
                                  std::string("find . -name"),
                                  std::string("find . !"),
                                  std::string("find . '('"),
                                  std::string("find . ')' -delete"),
                                  std::string("find . -maxdepth"),
                                  std::string("find . -fprintf x"),
                                  std::string("npx @"),
                                  std::string("npx @/"),
                                  std::string("npm exec --"),
                                  std::string("yarn run"),
                                  std::string("env -S"),
                                  std::string("flock x"),
                                  std::string("su -c"),
                                  std::string("script"),
                                  std::string("xargs -d"),
                                  std::string("git checkout -b x ''"),
                                  std::string("prettier -w '{' '!'"),
                                  std::string("tar"),
                                  std::string("git -C"),
                                  std::string("bash -c"),
                                  std::string("env -C"),
                                  std::string("patch -p")}) {
    ask(text);
  }
}

TEST(FindWrites, ThePatchOfACodingAgentIsFollowedWhereverItComesFrom) {
  const std::string patch = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n";
  const std::string here = "apply_patch <<'EOF'\n" + patch + "EOF\n";
  for (const std::string& text :
       {"cd a && cd b && " + here, "D=a/b; cd $D && " + here, "cd a/b\napplypatch '" + patch + "'",
        std::string(
            "cd a/b; printf '%s\\n' '*** Begin Patch' '*** Add File: f' '+x' '*** End Patch' | apply_patch"),
        here + "cd a/b\n" + here, "bash -lc 'cd a/b && apply_patch <<\"EOF\"\n" + patch + "EOF\n'"}) {
    const Writes writes = ask(text);
    EXPECT_NE(std::ranges::find(writes.files, "/w/a/b/f", &Write::path), writes.files.end()) << text;
    EXPECT_TRUE(writes.unseen.empty()) << text;
  }
  for (const char* text : {"apply_patch < missing.txt", "apply_patch \"$(cat missing.txt)\"", "apply_patch"})
    EXPECT_FALSE(ask(text).unseen.empty()) << text;
}

TEST(FindWrites, ALongHereDocumentIsSeen) {
  const Writes writes =
      ask("cat > big.txt <<'EOF'\n" + repeated("a line of text that is long enough\n", 10'000) + "EOF\n");

  EXPECT_EQ(writes.files, (std::vector<Write>{{.path = "/w/big.txt"}}));
  EXPECT_TRUE(writes.unseen.empty());
}

}  // namespace
}  // namespace leasehold::shell
