#include "workspace/pairs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace leasehold {
namespace {

using Keys = std::vector<std::string>;

PairRules compile(const std::vector<PairRule>& rules) {
  auto compiled = PairRules::compile(rules);
  EXPECT_TRUE(compiled) << compiled.error().what;
  return std::move(*compiled);
}

PairRules::Exists any_of(Keys files) {
  return [files = std::move(files)](const std::string& key) {
    return std::ranges::find(files, key) != files.end();
  };
}

const PairRules::Exists kEverything = [](const std::string&) { return true; };

const PairRule kBeside = {"beside", "{dir}/{name}.ts", {"{dir}/{name}.{test|spec}.ts"}};
const PairRule kFolder = {"folder", "{dir}/{src|lib}/{name}.ts", {"{dir}/tests/{name}.test.ts"}};

TEST(Pairs, OrderIsThatOfKeysThenRulesThenTests) {
  const auto found = compile({kBeside, kFolder}).expand(Keys{"/src/b.ts", "/src/a.ts"}, kEverything);

  EXPECT_EQ(found, (std::vector<PairedPath>{{"/src/b.test.ts", {"/src/b.ts"}, "beside"},
                                            {"/src/b.spec.ts", {"/src/b.ts"}, "beside"},
                                            {"/tests/b.test.ts", {"/src/b.ts"}, "folder"},
                                            {"/src/a.test.ts", {"/src/a.ts"}, "beside"},
                                            {"/src/a.spec.ts", {"/src/a.ts"}, "beside"},
                                            {"/tests/a.test.ts", {"/src/a.ts"}, "folder"}}));
}

TEST(Pairs, TestThatDoesNotExistIsSkipped) {
  const auto found = compile({kBeside, kFolder}).expand(Keys{"/src/a.ts"}, any_of({"/src/a.spec.ts"}));

  EXPECT_EQ(found, (std::vector<PairedPath>{{"/src/a.spec.ts", {"/src/a.ts"}, "beside"}}));
}

TEST(Pairs, TestOfTwoSourcesIsListedOnceWithBoth) {
  const auto found = compile({kFolder}).expand(Keys{"/src/a.ts", "/lib/a.ts", "/src/a.ts"}, kEverything);

  EXPECT_EQ(found, (std::vector<PairedPath>{{"/tests/a.test.ts", {"/src/a.ts", "/lib/a.ts"}, "folder"}}));
}

TEST(Pairs, TestOfTwoRulesNamesTheFirst) {
  PairRule same = kFolder;
  same.name = "same";

  EXPECT_EQ(compile({same, kFolder}).expand(Keys{"/src/a.ts"}, kEverything),
            (std::vector<PairedPath>{{"/tests/a.test.ts", {"/src/a.ts"}, "same"}}));
}

TEST(Pairs, RequestedTestIsNotAdded) {
  const auto found = compile({kBeside}).expand(Keys{"/a.ts", "/a.test.ts"}, kEverything);

  EXPECT_EQ(found, (std::vector<PairedPath>{{"/a.spec.ts", {"/a.ts"}, "beside"}}));
}

TEST(Pairs, FileIsNeverItsOwnTest) {
  const PairRules rules = compile({{"odd", "{dir}/{name}.ts", {"{dir}/{name}.ts"}}});

  EXPECT_TRUE(rules.expand(Keys{"/a.ts"}, kEverything).empty());
}

TEST(Pairs, NothingLeavesTheTree) {
  const PairRules rules = compile({{"odd", "{name}.ts", {"{name}/x.js"}}});

  EXPECT_TRUE(rules.expand(Keys{"/...ts"}, kEverything).empty());  // The name is "..".
}

TEST(Pairs, PatternWithoutAnExtensionFitsAny) {
  const PairRules rules =
      compile({{"any", "src/{name}", {"notes/{name}"}}, {"ts", "src/{name}.ts", {"t/{name}.ts"}}});

  EXPECT_EQ(rules.expand(Keys{"/src/Makefile"}, kEverything),
            (std::vector<PairedPath>{{"/notes/Makefile", {"/src/Makefile"}, "any"}}));
  EXPECT_EQ(
      rules.expand(Keys{"/src/a.ts"}, kEverything),
      (std::vector<PairedPath>{{"/notes/a.ts", {"/src/a.ts"}, "any"}, {"/t/a.ts", {"/src/a.ts"}, "ts"}}));
}

TEST(Pairs, WithoutRulesThereAreNoPairs) {
  EXPECT_TRUE(PairRules().expand(Keys{"/src/a.ts"}, kEverything).empty());
}

TEST(Pairs, BadPatternNamesItsRule) {
  const auto bad_test =
      PairRules::compile(std::vector{kBeside, PairRule{"b", "{name}.x", {"ok", "{dir}/a"}}});
  ASSERT_FALSE(bad_test);
  EXPECT_EQ(bad_test.error().rule, 1u);
  EXPECT_EQ(bad_test.error().test, 1u);

  const auto bad_source = PairRules::compile(std::vector{PairRule{"b", "*.x", {"ok"}}});
  ASSERT_FALSE(bad_source);
  EXPECT_EQ(bad_source.error().test, std::nullopt);
}

}  // namespace
}  // namespace leasehold
