#include "model/key.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::string_literals;

TEST(WireKey, SpellingsOfOnePathAreOneKey) {
  for (const std::string_view spelling :
       {"/src/a.ts", "/src/./a.ts", "//src///a.ts", "/src/a.ts/", "/src/b/../a.ts", "/./src/x/y/../../a.ts",
        "\\src\\a.ts", "/src\\a.ts", "file:/src/a.ts", "file:/src/../src/a.ts/", "file:\\src\\a.ts",
        "/src/x\\..\\a.ts"}) {
    EXPECT_EQ(key_from_wire(spelling), "/src/a.ts") << spelling;
  }
}

TEST(WireKey, RootIsASlash) {
  for (const std::string_view spelling : {"/", "//", "/.", "/a/..", "file:/", "\\"}) {
    EXPECT_EQ(key_from_wire(spelling), "/") << spelling;
  }
}

TEST(WireKey, NamesThatOnlyLookSpecialStay) {
  for (const std::string_view key : {"/app/[id].tsx", "/a/{b,c}", "/...", "/.env", "/a b", "/*", "/what?",
                                     "/a:b", "/port:3000", "/C:", "/z\xC3\xBCrich", "/line\nbreak", "/~"}) {
    EXPECT_EQ(key_from_wire(key), key);
  }
}

TEST(WireKey, OtherResourcesAreKeptAsTheyAre) {
  for (const std::string_view key : {"port:3000", "build:main", "db-lock:users/7", "x2:a:b", "https://a/../b",
                                     "job_1: x", "DB:users", "gpu.0:lock"}) {
    EXPECT_EQ(key_from_wire(key), key);
    EXPECT_TRUE(is_resource(key));
  }
}

TEST(WireKey, BadInputIsRefusedWithAReason) {
  const struct {
    std::string text;
    std::string_view reason;
  } kCases[] = {
      {"", "is empty"},
      {"/a\0b"s, "NUL"},
      {"/\xFF", "not valid UTF-8 (byte 2)"},
      {"/\xED\xA0\x80", "not valid UTF-8"},
      {"/" + std::string(256, 'x'), "a name of 256 bytes"},
      {"/" + std::string(4096, '/'), "has 4097 bytes"},
      {"/..", "outside the workspace"},
      {"/a/../../b", "outside the workspace"},
      {"file:/..", "outside the workspace"},
      {"/a\\..\\..\\b", "outside the workspace"},
      {"src/a.ts", "is not a key"},
      {"file:src/a.ts", "is not a key"},
      {"file:", "is not a key"},
      {"file:///home/me/a.ts", "is a URL"},
      {"C:\\x", "is not a key"},
      {"p:1", "is not a key"},
      {"port:", "is not a key"},
      {"port:\n", "is not a key"},
      {"port:a\xC2\x85", "is not a key"},
      {":x", "is not a key"},
  };
  for (const auto& [text, reason] : kCases) {
    const auto key = key_from_wire(text);
    ASSERT_FALSE(key) << in_quotes(text);
    EXPECT_EQ(key.error().code, Code::invalid_path);
    EXPECT_NE(key.error().message.find(reason), std::string::npos) << key.error().message;
  }
}

TEST(WireKey, LongestPathAndNamePass) {
  std::string path;
  while (path.size() < 4096) path += "/" + std::string(255, 'x');
  EXPECT_EQ(key_from_wire(path), path);
}

RC_GTEST_PROP(WireKey, KeyOfAKeyIsThatKey, ()) {
  const auto parts = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "..", ".", "/", "\\", "//", "b:c", "*", " ", "\xC3\xBC"));
  std::string text = "/";
  for (const std::string& part : parts) text += part;

  const auto key = key_from_wire(text);

  RC_PRE(key.has_value());
  RC_ASSERT((key_from_wire(*key) == *key));
  RC_ASSERT((key_from_wire("file:" + *key) == *key));
}

}  // namespace
}  // namespace leasehold
