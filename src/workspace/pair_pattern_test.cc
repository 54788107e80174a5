#include "workspace/pair_pattern.h"

#include <gtest/gtest.h>

#include "util/utf8.h"

namespace leasehold {
namespace {

// All tests that a rule would look for.
std::vector<std::string> candidates(std::string_view source, std::string_view test, std::string_view path) {
  Placeholders placeholders;
  const auto parsed_source = parse_source_pattern(source, placeholders);
  const auto parsed_test = parse_test_pattern(test, placeholders);
  EXPECT_TRUE(parsed_source) << parsed_source.error();
  EXPECT_TRUE(parsed_test) << parsed_test.error();

  std::vector<std::string> found;
  std::string buffer;
  for (const Captures& captures : match(*parsed_source, path)) {
    render(*parsed_test, captures, buffer, [&] { found.push_back(buffer); });
  }
  return found;
}

using Paths = std::vector<std::string>;

TEST(PairPattern, FoldersStandForAnyNumberOfFolders) {
  constexpr std::string_view kSource = "{dir}/src/{sub}/{name}.ts";
  constexpr std::string_view kTest = "{dir}/tests/{sub}/{name}.test.ts";

  EXPECT_EQ(candidates(kSource, kTest, "src/foo.ts"), Paths{"tests/foo.test.ts"});
  EXPECT_EQ(candidates(kSource, kTest, "packages/a/src/b/c/foo.ts"),
            Paths{"packages/a/tests/b/c/foo.test.ts"});
  EXPECT_EQ(candidates(kSource, kTest, "lib/foo.ts"), Paths{});
  EXPECT_EQ(candidates(kSource, kTest, "mysrc/foo.ts"), Paths{});
  EXPECT_EQ(candidates(kSource, kTest, "src/foo.tsx"), Paths{});
  EXPECT_EQ(candidates(kSource, kTest, "src/.ts"), Paths{});
}

TEST(PairPattern, PathThatFitsInSeveralWaysIsReadInAll) {
  EXPECT_EQ(candidates("{dir}/src/{sub}/{name}.ts", "{dir}/tests/{sub}/{name}.ts", "src/a/src/x.ts"),
            (Paths{"tests/a/src/x.ts", "src/a/tests/x.ts"}));
}

TEST(PairPattern, ReadingsOfAPuzzleAreBounded) {
  std::string path;
  for (int i = 0; i < 1000; ++i) path += "src/";
  EXPECT_EQ(candidates("{dir}/src/{sub}/{name}.ts", "{dir}/{name}", path + "x.ts").size(), 16u);
}

TEST(PairPattern, ChoicesAreTriedInTurn) {
  EXPECT_EQ(candidates("{name}.{ext:js|ts}", "{test|spec}/{name}{_a|_b}.{ext}", "x.ts"),
            (Paths{"test/x_a.ts", "test/x_b.ts", "spec/x_a.ts", "spec/x_b.ts"}));
  EXPECT_EQ(candidates("{src|lib}/{name}.c", "t/{name}.c", "lib/x.c"), Paths{"t/x.c"});
}

TEST(PairPattern, NameIsAPartOfOneName) {
  EXPECT_EQ(candidates("src/{project}/{name}.cs", "tests/{project}.Tests/{name}Tests.cs", "src/A.B/Foo.cs"),
            Paths{"tests/A.B.Tests/FooTests.cs"});
  EXPECT_EQ(candidates("src/{project}/{name}.cs", "{name}", "src/a/b/Foo.cs"), Paths{});
  EXPECT_EQ(candidates("{name}.ts", "{name}.test.ts", "a.b.ts"), Paths{"a.b.test.ts"});
}

TEST(PairPattern, TestPatternIsAPatternToo) {
  Placeholders placeholders;
  ASSERT_TRUE(parse_source_pattern("{dir}/{name}.{ext:ts|js}", placeholders));
  const auto test = parse_test_pattern("{dir}/{name}/{name}.{test|spec}.{ext}", placeholders);
  ASSERT_TRUE(test);

  EXPECT_FALSE(match(*test, "a/b/x/x.spec.js").empty());
  EXPECT_TRUE(match(*test, "a/b/x/y.spec.js").empty());  // The same placeholder, another text.
  EXPECT_TRUE(match(*test, "a/b/x/x.spec.go").empty());
}

TEST(PairPattern, ExtensionsAreKnownWhereTheyCanBe) {
  const auto of = [](std::string_view pattern) {
    Placeholders placeholders;
    const auto parsed = parse_source_pattern(pattern, placeholders);
    EXPECT_TRUE(parsed) << parsed.error();
    Paths found;
    for (const std::string_view one : extensions(*parsed)) found.emplace_back(one);
    return found;
  };
  EXPECT_EQ(of("{dir}/{name}.ts"), Paths{"ts"});
  EXPECT_EQ(of("{name}.{ext:ts|d.ts}"), (Paths{"ts", "ts"}));
  EXPECT_EQ(of("{name}{.c|.cc}"), (Paths{"c", "cc"}));
  EXPECT_EQ(of("a.b/{name}"), Paths{});
  EXPECT_EQ(of("{name}_{a|b}"), Paths{});
  EXPECT_EQ(of("a.b/Makefile"), Paths{});
}

TEST(PairPattern, BadSourceIsRefusedWithAReason) {
  const struct {
    std::string pattern;
    std::string_view reason;
  } kCases[] = {
      {"", "is empty"},
      {"/", "is empty"},
      {"src/", "end with the name of a file"},
      {"a//b", "empty, \".\" or \"..\""},
      {"../a", "empty, \".\" or \"..\""},
      {"a/./b", "empty, \".\" or \"..\""},
      {"a\\b", "backslash"},
      {"src/*.ts", "glob"},
      {"a\x01", "control"},
      {"a\xFF", "UTF-8"},
      {"a}b", "} without {"},
      {"a{b", "{ without }"},
      {"{a/b}", "{ without }"},
      {"{a{b}}", "{ without }"},
      {"{}", "no placeholder"},
      {"{Name}", "no placeholder"},
      {"{a b}", "no placeholder"},
      {"{ext:}", "empty choice"},
      {"{a||b}", "empty choice"},
      {"{dir}", "whole folders"},
      {"x{dir}/a", "whole folders"},
      {"src/x{sub}/a", "whole folders"},
      {"{dir:a|b}/x", "whole folders"},
      {"{dir}/{sub}/x", "side by side"},
      {"{dir}/a/{dir}/x", "occurs twice"},
      {"{name}{other}", "two placeholders in one name"},
      {"{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}", "more than 8"},
      {"{a|b}{a|b}{a|b}{a|b}{a|b}{a|b}{a|b}", "more than 64"},
      {std::string(2000, 'x'), "longer than"},
  };
  for (const auto& [pattern, reason] : kCases) {
    Placeholders placeholders;
    const auto parsed = parse_source_pattern(pattern, placeholders);
    ASSERT_FALSE(parsed) << in_quotes(pattern);
    EXPECT_NE(parsed.error().find(reason), std::string::npos) << in_quotes(pattern) << ": " << parsed.error();
  }
}

TEST(PairPattern, TestMayOnlyUseWhatTheSourceHas) {
  Placeholders placeholders;
  ASSERT_TRUE(parse_source_pattern("src/{name}.ts", placeholders));

  EXPECT_NE(parse_test_pattern("{dir}/{name}.ts", placeholders).error().find("{dir} does not occur"),
            std::string::npos);
  EXPECT_NE(parse_test_pattern("{x:a|b}", placeholders).error().find("only the source"), std::string::npos);
}

}  // namespace
}  // namespace leasehold
