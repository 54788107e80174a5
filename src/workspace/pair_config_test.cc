#include "workspace/pair_config.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace leasehold {
namespace {

using Keys = std::vector<std::string>;

Result<PairRules> rules_of(std::string_view text) {
  const auto table = parse_toml(text);
  EXPECT_TRUE(table) << table.error().what;
  return pair_rules(table.value_or(TomlTable{}), "p/.leasehold.toml");
}

Keys tests_of(std::string_view text, const std::string& source, const Keys& files) {
  const auto rules = rules_of(text);
  EXPECT_TRUE(rules) << rules.error().message;
  Keys found;
  const auto exists = [&](const std::string& key) { return std::ranges::find(files, key) != files.end(); };
  for (const PairedPath& pair : rules->expand(Keys{source}, exists))
    found.push_back(pair.rule + " " + pair.path);
  return found;
}

constexpr std::string_view kOwn = R"(
[[pairs.rule]]
name = "own"
source = "/src/{sub}/{name}.ts"
tests = ["checks/{sub}/{name}.ts"]
)";
const Keys kFiles = {"/checks/a.ts", "/src/a.test.ts"};

TEST(PairConfig, WithoutSettingsTheBuiltInRulesApply) {
  EXPECT_EQ(tests_of("", "/src/a.ts", kFiles), Keys{"javascript /src/a.test.ts"});
  EXPECT_EQ(tests_of("workspace = 'x'", "/src/a.ts", kFiles), Keys{"javascript /src/a.test.ts"});
}

TEST(PairConfig, OwnRulesGoBeforeTheBuiltIn) {
  EXPECT_EQ(tests_of(kOwn, "/src/a.ts", kFiles), (Keys{"own /checks/a.ts", "javascript /src/a.test.ts"}));
  EXPECT_EQ(tests_of("[pairs]\nmode = 'extend'\n" + std::string(kOwn), "/src/a.ts", kFiles),
            (Keys{"own /checks/a.ts", "javascript /src/a.test.ts"}));
}

TEST(PairConfig, OwnRulesMayReplaceTheBuiltIn) {
  EXPECT_EQ(tests_of("[pairs]\nmode = 'replace'\n" + std::string(kOwn), "/src/a.ts", kFiles),
            Keys{"own /checks/a.ts"});
  EXPECT_EQ(tests_of("[pairs]\nmode = 'replace'\n", "/src/a.ts", kFiles), Keys{});
}

TEST(PairConfig, RuleWithABuiltInNameStandsInForIt) {
  EXPECT_EQ(
      tests_of(
          "[[pairs.rule]]\nname = 'javascript'\nsource = 'src/{name}.ts'\ntests = ['checks/{name}.ts']\n",
          "/src/a.ts", kFiles),
      Keys{"javascript /checks/a.ts"});
}

TEST(PairConfig, RulesAreSwitchedOffByName) {
  EXPECT_EQ(tests_of("[[pairs.rule]]\nname = 'javascript'\nenabled = false\n", "/src/a.ts", kFiles), Keys{});
}

TEST(PairConfig, PairingIsSwitchedOff) {
  EXPECT_EQ(tests_of("[pairs]\nenabled = false\n" + std::string(kOwn), "/src/a.ts", kFiles), Keys{});
}

TEST(PairConfig, ErrorNamesFileLineAndReason) {
  const struct {
    std::string_view text;
    std::string_view said;
  } kCases[] = {
      {"pairs = 1\n", "p/.leasehold.toml:1: pairs has to be a table"},
      {"[pairs]\nmode = 'both'\n", ":2: mode has to be \"extend\""},
      {"[pairs]\nenabled = 'yes'\n", ":2: enabled has to be true or false"},
      {"[pairs]\nrules = []\n", ":2: [pairs] does not know \"rules\"; it knows enabled, mode, rule"},
      {"[pairs]\nrule = 'x'\n", ":2: rule has to be a list"},
      {"[pairs]\nrule = ['x']\n", ":2: rule has to be a list"},
      {"\n[[pairs.rule]]\nsource = 'a'\n", ":2: a pair rule needs a name"},
      {"[[pairs.rule]]\nname = 'a'\ntests = ['b']\n", ":1: pair rule \"a\" needs a source"},
      {"[[pairs.rule]]\nname = 'a'\nsource = 'b'\n", ":1: pair rule \"a\" needs tests"},
      {"[[pairs.rule]]\nname = 'a'\nsource = 'b'\ntests = 'c'\n", ":4: pair rule \"a\" needs tests"},
      {"[[pairs.rule]]\nname = 'a'\nsource = 'b'\ntests = ['c',\n 1]\n",
       ":5: pair rule \"a\": each of its tests"},
      {"[[pairs.rule]]\nname = 'a'\nsource = 'b'\ntest = ['c']\n",
       ":4: [[pairs.rule]] does not know \"test\""},
      {"[[pairs.rule]]\nname = 'a'\nsource = '*.ts'\ntests = ['c']\n",
       ":3: pair rule \"a\": source \"*.ts\": it has a glob"},
      {"[[pairs.rule]]\nname = 'off'\nenabled = false\n[[pairs.rule]]\nname = 'a'\nsource = '{name}'\ntests "
       "= ['c',\n"
       "'{x}']\n",
       ":8: pair rule \"a\": test \"{x}\": {x} does not occur in the source"},
      {"[[pairs.rule]]\nname = 'a'\nenabled = false\n[[pairs.rule]]\nname = 'a'\n",
       ":5: there are two pair rules named"},
      {"[pairs]\nenabled = false\n[[pairs.rule]]\nname = 'a'\nsource = '{'\ntests = ['c']\n",
       ":5: pair rule \"a\": source"},
  };
  for (const auto& [text, said] : kCases) {
    const auto rules = rules_of(text);
    ASSERT_FALSE(rules) << text;
    EXPECT_EQ(rules.error().code, Code::config_error);
    EXPECT_NE(rules.error().message.find(said), std::string::npos) << rules.error().message;
  }
}

}  // namespace
}  // namespace leasehold
