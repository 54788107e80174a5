#include "util/utf8.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

TEST(Utf8, ValidTextIsValidToItsEnd) {
  for (const std::string_view text : {"", "abc", "z\xC3\xBC rich", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                                      "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80"}) {
    EXPECT_EQ(invalid_utf8_at(text), std::nullopt) << in_quotes(text);
  }
}

TEST(Utf8, FirstWrongByteIsNamed) {
  const struct {
    std::string_view bytes;
    std::size_t at;
    const char* why;
  } kCases[] = {
      {"ab\x80", 2, "continuation without a start"},
      {"\xC3", 0, "cut short"},
      {"a\xE2\x82", 1, "cut short"},
      {"\xF0\x9F\x98", 0, "cut short"},
      {"\xC0\xAF", 0, "overlong slash"},
      {"\xC1\xBF", 0, "overlong"},
      {"\xE0\x80\xAF", 0, "overlong slash"},
      {"\xF0\x80\x80\xAF", 0, "overlong slash"},
      {"\xED\xA0\x80", 0, "surrogate"},
      {"\xED\xBF\xBF", 0, "surrogate"},
      {"\xF4\x90\x80\x80", 0, "above U+10FFFF"},
      {"\xF5\x80\x80\x80", 0, "above U+10FFFF"},
      {"\xFF", 0, "never a byte of UTF-8"},
      {"\xC3(", 0, "start without continuation"},
      {"\xE2\x82(", 0, "start without continuation"},
  };
  for (const auto& [bytes, at, why] : kCases) EXPECT_EQ(invalid_utf8_at(bytes), at) << why;
}

TEST(Utf8, ControlCharactersAreFound) {
  EXPECT_TRUE(has_control_character("a\nb"));
  EXPECT_TRUE(has_control_character("\x7F"));
  EXPECT_TRUE(has_control_character("\xC2\x85"));
  EXPECT_FALSE(has_control_character("z\xC3\x85 \xC2\xA0"));
}

TEST(Utf8, OnlyAnOddNameIsQuotedInASentence) {
  for (const char* plain : {"/src/a.h", "port:3000", "ann", "f\u00fcr", "src/[id].tsx", "a@b-c_d+e"}) {
    EXPECT_EQ(in_sentence(plain), plain);
  }
  for (const char* odd : {"", "a b", "a,b", "a;b", "it's", "a\"b", "a\\b", "a\nb", "\xC2\x85", "\xFF"}) {
    EXPECT_EQ(in_sentence(odd), in_quotes(odd));
  }
  EXPECT_EQ(in_sentence(std::string(400, 'x')), in_quotes(std::string(400, 'x')));
}

TEST(Utf8, QuotedTextIsSafeToPrint) {
  EXPECT_EQ(in_quotes("a b"), R"("a b")");
  EXPECT_EQ(in_quotes("a\"\\\n"), R"("a\"\\\x0a")");
  EXPECT_EQ(in_quotes("\xFF\xC2\x85z"), R"("\xff\xc2\x85z")");
  EXPECT_EQ(in_quotes(std::string(400, 'x')), '"' + std::string(300, 'x') + "...\"");
  EXPECT_EQ(invalid_utf8_at(in_quotes("\xF0\x9F")), std::nullopt);
}

}  // namespace
}  // namespace leasehold
