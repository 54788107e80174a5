#include "mcp/json_rpc.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace leasehold::mcp {
namespace {

TEST(JsonRpc, ARequestHasAnIdAndANotificationHasNone) {
  const auto request = read_message(R"({"jsonrpc":"2.0","id":"a","method":"ping"})");
  const auto notice = read_message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");

  ASSERT_TRUE(request && notice);
  EXPECT_TRUE(request->is_request());
  EXPECT_FALSE(notice->is_request());
}

TEST(JsonRpc, WhatAClientAnswersIsNoRequest) {
  const auto answer = read_message(R"({"jsonrpc":"2.0","id":1,"result":{}})");

  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->is_request());
}

struct Wrong {
  const char* text;
  int code;
  const char* id;
};

TEST(JsonRpc, SaysWhatIsWrongUnderTheIdItCouldRead) {
  const Wrong cases[] = {
      {"", kParseError, "null"},
      {"{", kParseError, "null"},
      {"\xff", kParseError, "null"},
      {"[]", kInvalidRequest, "null"},
      {"1", kInvalidRequest, "null"},
      {R"({"id":1,"method":"ping"})", kInvalidRequest, "1"},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", kInvalidRequest, "1"},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":"x","method":7})", kInvalidRequest, "\"x\""},
      {R"({"jsonrpc":"2.0","id":"x"})", kInvalidRequest, "\"x\""},
      {R"({"jsonrpc":"2.0","id":3,"method":"ping","params":[]})", kInvalidParams, "3"},
  };
  for (const Wrong& wrong : cases) {
    const auto message = read_message(wrong.text);
    ASSERT_FALSE(message) << wrong.text;
    EXPECT_EQ(message.error().fault.code, wrong.code) << wrong.text;
    EXPECT_EQ(json::serialize(message.error().id), wrong.id) << wrong.text;
  }
}

TEST(JsonRpc, NobodyHearsWhatIsWrongWithANotificationOrAnAnswer) {
  for (const char* text : {R"({"method":"notifications/initialized"})",
                           R"({"jsonrpc":"2.0","method":"x","params":[]})", R"({"jsonrpc":"2.0","method":7})",
                           R"({"id":1,"result":{}})", R"({"jsonrpc":"2.0","id":null,"error":{}})"}) {
    const auto message = read_message(text);
    ASSERT_TRUE(message) << text;
    EXPECT_FALSE(message->is_request()) << text;
    EXPECT_TRUE(message->method.empty()) << text;
  }
}

TEST(JsonRpc, WhatCannotBeReadIsAnsweredUnderItsId) {
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  const std::pair<std::string, const char*> cases[] = {
      {R"({"jsonrpc":"2.0","id":7,"method":"x","params":{"id":1,"a":"\ud800"}})", "7"},
      {R"({"jsonrpc":"2.0","method":"x","params":{"id":1,"a":"\ud800","b":"\"id\":2"},"id" : "q\"7"})",
       R"("q\"7")"},
      {R"({"jsonrpc":"2.0","id":-3,"method":"id","params":{"a":)" + deep + "}}", "-3"},
      {R"({"jsonrpc":"2.0","params":{"a":)" + deep + R"(},"id":3,"method":"id"})", "3"},
      {R"({"jsonrpc":"2.0","id":"\ud800","method":"x"})", "null"},
      {R"({"jsonrpc":"2.0","method":"id","id":[1],"a":"\ud800"})", "null"},
      {R"({"id)", "null"},
      {R"({"id":)", "null"},
  };
  for (const auto& [text, id] : cases) {
    const auto message = read_message(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().fault.code, kParseError) << text;
    EXPECT_EQ(json::serialize(message.error().id), id) << text;
  }
}

TEST(JsonRpc, DeepNestingIsRefusedAndNotFollowed) {
  const std::string deep =
      R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)" + std::string(100'000, '[');

  ASSERT_FALSE(read_message(deep));
}

}  // namespace
}  // namespace leasehold::mcp
