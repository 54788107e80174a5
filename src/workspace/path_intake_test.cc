#include "workspace/path_intake.h"

#include <gtest/gtest.h>

#include "util/utf8.h"
#include "workspace/scratch_tree.h"

namespace leasehold {
namespace {

using namespace std::string_literals;

class PathIntake : public testing::Test {
 protected:
  PathIntake() {
    tree.file("ws/src/a.ts");
    tree.folder("ws/src/deep/er");
    tree.folder("outside");
    workspace.root = tree / "ws";
  }

  Result<std::string> key(std::string_view path, std::string_view cwd = "ws", bool literal = false) const {
    const std::string folder = tree / cwd;
    return key_from_os(workspace, {.path = path, .cwd = folder, .literal = literal});
  }

  std::string message(std::string_view path) const {
    const auto got = key(path);
    if (got) return "no error, but " + *got;
    EXPECT_EQ(got.error().code, Code::invalid_path);
    return got.error().message;
  }

  ScratchTree tree;
  Workspace workspace;
};

TEST_F(PathIntake, SpellingsOfOneFileAreOneKey) {
  tree.link("ws/link.ts", "src/a.ts");
  tree.link("ws/absolute.ts", tree / "ws/src/a.ts");
  tree.link("ws/lib", "src");
  tree.link("ws/far", "src/deep/er");
  tree.link("ws/chain", "lib/../link.ts");
  tree.link("outside/in", "../ws/src");
  tree.link("other", "ws");

  for (const std::string& spelling :
       {"src/a.ts"s,
        "./src/a.ts"s,
        "src//a.ts"s,
        "src/./a.ts"s,
        "src/a.ts/"s,
        "src/deep/../a.ts"s,
        "missing/../src/a.ts"s,
        "missing/../lib/a.ts"s,
        "src\\a.ts"s,
        ".\\src\\deep\\..\\a.ts"s,
        "link.ts"s,
        "absolute.ts"s,
        "lib/a.ts"s,
        "chain"s,
        "far/../../a.ts"s,  // Leaves src/deep/er, not the folder the link is in.
        "../outside/in/a.ts"s,
        "../other/src/a.ts"s,
        "../ws/src/a.ts"s,
        tree / "ws/src/a.ts",
        tree / "other/lib/a.ts",
        tree / "ws/../ws//src/a.ts",
        "file:/src/a.ts"s,
        "file:/lib/a.ts"s,
        "file:/link.ts"s,
        "file:/x/../src/a.ts"s}) {
    EXPECT_EQ(key(spelling), "/src/a.ts") << spelling;
  }
  EXPECT_EQ(key("a.ts", "ws/src"), "/src/a.ts");
  EXPECT_EQ(key("../a.ts", "ws/src/deep"), "/src/a.ts");
  EXPECT_EQ(key("../../a.ts", "ws/far"), "/src/a.ts");
  EXPECT_EQ(key("a.ts", "other/lib"), "/src/a.ts");
}

TEST_F(PathIntake, FolderIsAKeyToo) {
  EXPECT_EQ(key("src/"), "/src");
  EXPECT_EQ(key("."), "/");
  EXPECT_EQ(key(""s + tree.root() + "/ws/"), "/");
  EXPECT_EQ(key(".", "ws/src"), "/src");
  EXPECT_EQ(key("file:/"), "/");
}

TEST_F(PathIntake, WhatDoesNotExistYetIsText) {
  EXPECT_EQ(key("new.ts"), "/new.ts");
  EXPECT_EQ(key("new/folder/../x.ts"), "/new/x.ts");
  EXPECT_EQ(key("new/../src/a.ts"), "/src/a.ts");
  EXPECT_EQ(key("src/a.ts/below/a/file"), "/src/a.ts/below/a/file");
}

TEST_F(PathIntake, DanglingLinkIsTheFileItWouldCreate) {
  tree.link("ws/todo.ts", "src/todo.ts");
  tree.link("ws/more", "new");

  EXPECT_EQ(key("todo.ts"), "/src/todo.ts");
  EXPECT_EQ(key("more/x.ts"), "/new/x.ts");
}

TEST_F(PathIntake, ResourcesAreNotFiles) {
  EXPECT_EQ(key("port:3000"), "port:3000");
  EXPECT_EQ(key("build:main\\x"), "build:main\\x");
  EXPECT_EQ(key("./port:3000"), "/port:3000");
  EXPECT_EQ(key("src/port:3000"), "/src/port:3000");
  EXPECT_EQ(key("p:1"), "/p:1");
}

TEST_F(PathIntake, LiteralPathIsAlwaysAFile) {
  EXPECT_EQ(key("port:3000", "ws", true), "/port:3000");
  EXPECT_EQ(key("port:3000", "ws/src", true), "/src/port:3000");
}

TEST_F(PathIntake, ExistingFileWinsOverAResourceOfItsName) {
  tree.file("ws/port:3000");

  EXPECT_EQ(key("port:3000"), "/port:3000");
  EXPECT_EQ(key("port:3000", "ws/src"), "port:3000");
}

TEST_F(PathIntake, AResourceWithoutANameIsNoFileThatNobodyHas) {
  for (const char* name : {"port:", "port:a\nb", "port:\x7f"}) {
    EXPECT_TRUE(message(name).contains("write ./ before it")) << message(name);
    EXPECT_EQ(key(std::string("./") + name), std::string("/") + name);
    EXPECT_EQ(key(name, "ws", true), std::string("/") + name);
  }
  tree.file("ws/port:");
  EXPECT_EQ(key("port:"), "/port:");
}

TEST_F(PathIntake, GlobIsRefusedWithAHintUnlessItIsAFile) {
  tree.file("ws/src/what?.md");

  EXPECT_EQ(key("src/what?.md"), "/src/what?.md");
  EXPECT_EQ(key("src/[id].tsx"), "/src/[id].tsx");
  EXPECT_EQ(key("src/{a,b}.ts"), "/src/{a,b}.ts");
  EXPECT_EQ(key("new?.md", "ws", true), "/new?.md");
  for (const std::string_view glob : {"src/*.ts", "**/a.ts", "src/?.ts", "file:/src/*"}) {
    EXPECT_NE(message(glob).find("is a glob"), std::string::npos) << message(glob);
    EXPECT_NE(message(glob).find("--subtree"), std::string::npos) << message(glob);
  }
}

TEST_F(PathIntake, BadInputIsRefusedWithAReason) {
  tree.link("ws/loop", "loop2");
  tree.link("ws/loop2", "loop");
  tree.link("ws/self", "self/x");
  tree.link("ws/odd", "\xFF");

  const struct {
    std::string path;
    std::string_view reason;
  } kCases[] = {
      {"", "is empty"},
      {"a\0b"s, "NUL"},
      {"src/\xC0\xAF", "not valid UTF-8 (byte 5)"},
      {std::string(256, 'x'), "File name too long"},
      {"new/" + std::string(256, 'x'), "a name of 256 bytes"},
      {std::string(4097, 'x'), "has 4097 bytes"},
      {"loop", "symbolic link"},
      {"loop/x", "symbolic link"},
      {"self", "symbolic link"},
      {"odd", "not valid UTF-8"},
      {"file:///src/a.ts", "is a URL"},
      {"file:src", "is not a key"},
      {"file:/../x", "outside the workspace"},
  };
  for (const auto& [path, reason] : kCases) {
    EXPECT_NE(message(path).find(reason), std::string::npos) << in_quotes(path) << ": " << message(path);
  }
}

TEST_F(PathIntake, OutsideNamesThePathAndTheWorkspace) {
  tree.link("ws/escape", "../outside");

  for (const std::string& path :
       {"../outside/x"s, "escape/x"s, tree / "outside/x", tree / "ws2/x", "/"s, ".."s}) {
    const std::string said = message(path);
    EXPECT_NE(said.find("is outside the workspace"), std::string::npos) << said;
    EXPECT_NE(said.find(in_quotes(path)), std::string::npos) << said;
    EXPECT_NE(said.find(in_quotes(workspace.root)), std::string::npos) << said;
  }
}

TEST_F(PathIntake, AWorkspaceInsideThisOneHasItsOwnKeys) {
  ASSERT_NE(tree.run("ws", "git init -q . && git init -q sub && mkdir sub/src && echo done"), "");
  tree.link("ws/way", "sub/src");
  workspace = find_workspace(tree / "ws").value();

  for (const std::string path : {"sub/f.ts", "sub/src/new/f.ts", "way/f.ts", "file:/sub/f.ts"}) {
    const std::string said = message(path);
    EXPECT_NE(said.find("belongs to a workspace of its own, " + in_quotes(tree / "ws/sub")),
              std::string::npos)
        << said;
    EXPECT_EQ(key_if_inside(workspace, {.path = path, .cwd = workspace.root}), std::nullopt);
  }
  EXPECT_EQ(key("sub"), "/sub") << "as git has it: a name";
  for (const std::string path : {"sub", "sub/", "sub/src", "way"})
    EXPECT_FALSE(key_from_os(workspace, {.path = path, .cwd = workspace.root, .subtree = true})) << path;
  EXPECT_EQ(key_from_os(workspace, {.path = "subs", .cwd = workspace.root, .subtree = true}), "/subs");
  EXPECT_EQ(key("subs/f.ts"), "/subs/f.ts");
  workspace = find_workspace(tree / "ws/sub/f.ts").value();
  EXPECT_EQ(key("sub/f.ts"), "/f.ts");

  // Settings below the top of a git work tree are not used; elsewhere they make a workspace.
  tree.file("ws/conf/.leasehold.toml");
  workspace = find_workspace(tree / "ws").value();
  EXPECT_EQ(key("conf/f.ts"), "/conf/f.ts");
  tree.file("plain/.leasehold.toml");
  tree.file("plain/a/.leasehold.toml");
  tree.file("plain/b/.leasehold/leases.db");
  workspace = find_workspace(tree / "plain").value();
  EXPECT_FALSE(key("a/f.ts", "plain"));
  EXPECT_FALSE(key("b/c/f.ts", "plain"));
  EXPECT_EQ(key("c/f.ts", "plain"), "/c/f.ts");
}

TEST_F(PathIntake, OutsideSaysHowToNameAFileAsAnswersDo) {
  EXPECT_NE(message("/src/a.ts").find("file:/src/a.ts"), std::string::npos) << message("/src/a.ts");
  EXPECT_EQ(message("../outside/x").find("file:"), std::string::npos);
}

TEST_F(PathIntake, OutsideIsNoErrorForThoseWhoLetItPass) {
  EXPECT_EQ(key_if_inside(workspace, {.path = "../outside/x", .cwd = workspace.root}), std::nullopt);
  EXPECT_EQ(key_if_inside(workspace, {.path = "src/a.ts", .cwd = workspace.root}), "/src/a.ts");
  EXPECT_FALSE(key_if_inside(workspace, {.path = "", .cwd = workspace.root}));
}

TEST_F(PathIntake, RelativePathNeedsAnAbsoluteFolder) {
  const auto key = key_from_os(workspace, {.path = "a", .cwd = "ws"});
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code, Code::invalid_path);
}

TEST_F(PathIntake, WithoutAWorkspaceTheRootIsTheFileSystem) {
  EXPECT_EQ(key_from_os(Workspace{}, {.path = "ws/src/a.ts", .cwd = tree.root()}), tree / "ws/src/a.ts");
  EXPECT_EQ(key_from_os(Workspace{}, {.path = "/", .cwd = "/"}), "/");
  EXPECT_EQ(key_from_os(Workspace{}, {.path = "/../..", .cwd = "/"}), "/");
}

TEST_F(PathIntake, BackslashInANameIsTheOtherSpelling) {
  tree.file("ws/odd\\name");
  tree.link("ws/alias", "odd\\name");

  EXPECT_EQ(key("odd\\name"), "/odd/name");
  EXPECT_EQ(key("alias"), "/odd/name");
}

}  // namespace
}  // namespace leasehold
