#include "util/toml.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

TEST(Toml, ValuesKeepTypeAndLine) {
  const auto table = parse_toml(
      "name = \"x\"\n"
      "count = 3\n"
      "on = true\n"
      "ratio = 0.5\n"
      "day = 2020-01-02\n"
      "[[list.item]]\n"
      "tests = [\"a\",\n"
      "  \"b\"]\n");

  ASSERT_TRUE(table);
  EXPECT_EQ(*table->find("name")->as<std::string>(), "x");
  EXPECT_EQ(*table->find("count")->as<std::int64_t>(), 3);
  EXPECT_EQ(*table->find("on")->as<bool>(), true);
  EXPECT_EQ(*table->find("ratio")->as<double>(), 0.5);
  EXPECT_NE(table->find("day")->as<TomlDate>(), nullptr);
  EXPECT_EQ(table->find("name")->as<bool>(), nullptr);
  EXPECT_EQ(table->find("count")->line, 2u);
  const TomlArray& items = *table->find("list")->as<TomlTable>()->find("item")->as<TomlArray>();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].line, 6u);
  EXPECT_EQ(items[0].as<TomlTable>()->find("tests")->as<TomlArray>()->at(1).line, 8u);
  EXPECT_EQ(table->find("missing"), nullptr);
}

TEST(Toml, ErrorSaysWhereAndWhat) {
  const auto table = parse_toml("a = 1\nb = = 2\n");

  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().line, 2u);
  EXPECT_FALSE(table.error().what.empty());
}

TEST(Toml, AnyTextIsAnswered) {
  for (const std::string_view text : {"[[$]]", "[$", "[[\x02", "$", "a.$ = 1", "a = {$}", "[", "a\xC3\x9D\"b",
                                      "a = \xFF", "a = [[[[", "=", "a"}) {
    EXPECT_FALSE(parse_toml(text)) << text;
  }
  EXPECT_TRUE(parse_toml("s = \"\"\"\\\n\xC2\xA7\"\"\"\n"));
  // Bounded depth: a thousand brackets are an error and not a crash.
  EXPECT_FALSE(parse_toml("a = " + std::string(100000, '[')));
}

}  // namespace
}  // namespace leasehold
