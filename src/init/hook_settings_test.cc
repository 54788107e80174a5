#include "init/hook_settings.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

namespace leasehold {
namespace {

constexpr HookHost kHost = HookHost::claude_code;

std::string with(const FileText& text, HookHost host = kHost) {
  const auto result = with_groups(text, host, hook_groups(host, {}));
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result.value_or("");
}

const std::string kGone = "(gone)";

std::string without(const FileText& text, HookHost host = kHost) {
  const auto result = without_groups(text, host);
  return result ? result->value_or(kGone) : result.error().message;
}

std::string error_of(const std::string& text) {
  const auto result = with_groups(text, kHost, hook_groups(kHost, {}));
  return result ? "none" : result.error().message;
}

// As texts are: indented by tabs or not at all, with one sort of line ends or the other, with and without an
// end.
const std::string kTexts[] = {
    "{}",
    "{}\n",
    "{ }\n",
    "{\n}\n",
    "{\r\n\t\"a\": 1\r\n}\r\n",
    "",
    "\n",
    " \t\r\n",
    "\xEF\xBB\xBF{\"a\":1}",
    "\xEF\xBB\xBF",
    R"({"a":[1,2,{"b":"}]\",\\"}],"hooks":{}})",
    R"({"hooks": { } })",
    "{\n    \"hooks\": {\n    }\n}",
    R"({"hooks":{"PreToolUse":[]}})",
    R"({"hooks":{"PreToolUse":[ ],"Stop":[ {"hooks":[]} ]},"z":null})",
    "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"matcher\": \"Bash\", \"hooks\": []} \n\t\t] "
    ",\n\t\t\"Stop\": []\n\t}"
    ",\n\t\"model\" : \"x\"\n}\n",
    // With comments, as some hosts take them.
    "// mine, /* \" { [\n{\"a\": 1 // one, two\n}\n// the end",
    "{\r\n  \"a\": true/* so */, \"b\": 2 /* and */ // so on\r\n  // \"c\": 3\r\n}\r\n",
    "{ // nothing yet\n}",
    "{\"hooks\": {// none\n}}",
    "{\"hooks\": {\"PreToolUse\": [ // none\n], \"Stop\": [{\"hooks\": []} // empty\n] /* x */}}",
};

TEST(HookSettings, WhatIsTakenOutIsWhatWasPutIn) {
  for (const HookHost host : all_hosts()) {
    if (hooks_file(host).empty()) continue;
    for (const std::string& text : kTexts) {
      const std::string installed = with(text, host);
      EXPECT_TRUE(has_groups(installed, host, hook_groups(host, {}))) << installed;
      EXPECT_EQ(without(installed, host), text) << installed;
    }
    EXPECT_EQ(without(with({}, host), host), kGone) << "a file of our own goes";
  }
}

TEST(HookSettings, PuttingInTwiceChangesNothing) {
  for (const std::string& text : kTexts) {
    const std::string once = with(text);
    EXPECT_EQ(with(once), once);
  }
}

TEST(HookSettings, CommentsStayWhereTheyAre) {
  const std::string text = "{\n  // the model\n  \"model\": \"x\" // best\n  // end\n}\n";
  const std::string installed = with(text);
  EXPECT_TRUE(installed.starts_with("{\n  // the model\n  \"model\": \"x\", // best\n  \"hooks\": {\n"))
      << installed;
  EXPECT_TRUE(installed.ends_with("}\n  // end\n}\n")) << installed;
  EXPECT_EQ(without(installed), text);

  // Somebody wrote something behind ours, and about it.
  std::string more = installed;
  more.insert(more.rfind("}\n  // end") + 1, " // asks\n  , \"z\": 1");
  const std::string bare = without(more);
  EXPECT_EQ(bare, "{\n  // the model\n  \"model\": \"x\", // best\n  \"z\": 1\n  // end\n}\n") << bare;
}

TEST(HookSettings, WhatWasThereStaysInItsOrder) {
  const std::string text =
      R"({"z":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]},"a":2})";
  const auto value = boost::json::parse(with(text)).as_object();
  EXPECT_EQ(value.begin()->key(), "z");
  EXPECT_EQ((value.begin() + 2)->key(), "a");
  const auto& stop = value.at("hooks").at("Stop").as_array();
  ASSERT_EQ(stop.size(), 2U);
  EXPECT_EQ(stop[0].at("hooks").at(0).at("command"), "mine");
}

TEST(HookSettings, WhatWasAddedLaterStays) {
  std::string text = with(FileText("{\n  \"a\": 1\n}\n"));
  const std::string stop = "\"Stop\": [";
  text.insert(text.find(stop) + stop.size(), "\n      {\"hooks\": []},");
  const auto bare = without_groups(text, kHost);
  ASSERT_TRUE(bare && *bare);
  EXPECT_EQ(boost::json::parse(**bare), boost::json::parse(R"({"a":1,"hooks":{"Stop":[{"hooks":[]}]}})"));
}

// His own handlers beside ours, in a group that we made: before it, behind it, and on both sides.
TEST(HookSettings, HandlersThatWereAddedToOurGroupsStay) {
  const std::string mine = R"({"type": "command", "command": "mine"})";
  const std::string group = R"({"matcher": "Bash", "hooks": [)";
  for (const bool before : {true, false}) {
    for (const bool behind : {true, false}) {
      if (!before && !behind) continue;
      std::string text = with(FileText("{\n  \"a\": 1\n}\n"));
      const std::size_t begin = text.find(group) + group.size();
      if (behind) text.insert(text.find("}]}", begin) + 1, ",\n " + mine);
      if (before) text.insert(begin, mine + " , ");

      EXPECT_EQ(with(text), text) << "ours is there, with whatever stands beside it";
      const auto bare = without_groups(text, kHost);

      ASSERT_TRUE(bare && *bare);
      EXPECT_FALSE((*bare)->contains("lease hook")) << **bare;
      const std::string left = before && behind ? mine + "," + mine : mine;
      EXPECT_EQ(boost::json::parse(**bare),
                boost::json::parse(R"({"a":1,"hooks":{"PreToolUse":[)" + group + left + "]}]}}"))
          << **bare;
    }
  }
}

TEST(HookSettings, OurHandlerInAnothersGroupIsTakenOutAlone) {
  const std::string theirs = R"({"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}})";
  std::string text = theirs;
  text.insert(text.find("]}]}}"), R"(, {"type":"command","command":"lease hook claude-code"})");
  EXPECT_EQ(without(text), theirs);
  EXPECT_EQ(without(with(text)), theirs);
}

TEST(HookSettings, OtherWishesReplaceOurGroupsOnly) {
  const std::string before = with(FileText(R"({"hooks":{"PreToolUse":[{"hooks":[]}]}})"));
  const auto groups = hook_groups(kHost, {.fail_open = true, .reads = true});
  const auto after = with_groups(before, kHost, groups);
  ASSERT_TRUE(after);
  EXPECT_NE(*after, before);
  EXPECT_TRUE(has_groups(*after, kHost, groups));
  EXPECT_FALSE(after->contains("onFailure"));
  EXPECT_TRUE(after->contains("NotebookEdit|Read"));
}

TEST(HookSettings, RefusesWhatItDoesNotUnderstand) {
  EXPECT_TRUE(error_of("{\n  # comment\n}").starts_with("2: ")) << error_of("{\n  // comment\n}");
  EXPECT_TRUE(error_of("{\"a\": 1,}").starts_with("1: "));
  EXPECT_TRUE(error_of("{} x").starts_with("1: "));
  EXPECT_TRUE(error_of("{\"a\":").starts_with("1: "));
  EXPECT_EQ(error_of("[]"), "1: it is no JSON object");
  EXPECT_EQ(error_of("{\n\"hooks\": 1}"), "2: \"hooks\" has to be an object");
  EXPECT_EQ(error_of("{\"hooks\": {\"Stop\": {}}}"), "1: \"Stop\" has to be a list");
  EXPECT_EQ(error_of("{\"hooks\": {}, \"hooks\": {}}"), "1: a name that its object had before");
}

// Any JSON that has room for hooks, with blanks strewn in.
rc::Gen<std::string> any_blanks() {
  return rc::gen::resize(3, rc::gen::container<std::string>(rc::gen::element(' ', '\n', '\t', '\r')));
}

rc::Gen<std::string> any_list(int depth);

rc::Gen<std::string> any_object(int depth) {
  return rc::gen::exec([depth] {
    std::string text = "{" + *any_blanks();
    std::vector<std::string> names = {"hooks", "PreToolUse", "Stop", "SessionEnd", "x\\\"y", "z"};
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
      const std::string name = *rc::gen::elementOf(names);
      std::erase(names, name);
      text += (i > 0 ? "," : "") + *any_blanks() + '"' + name + '"' + *any_blanks() + ':' + *any_blanks();
      text += name == "hooks" ? *any_object(depth + 1) : *any_list(depth + 1);
      text += *any_blanks();
    }
    return text + '}';
  });
}

rc::Gen<std::string> any_list(int depth) {
  return rc::gen::exec([depth] {
    std::string text = "[" + *any_blanks();
    const int count = depth > 4 ? 0 : *rc::gen::inRange(0, 3);
    for (int i = 0; i < count; ++i) {
      text += (i > 0 ? "," : "") + *any_blanks();
      text += *rc::gen::oneOf(rc::gen::just<std::string>("\"},]\\\\\""), rc::gen::just<std::string>("-1.5e3"),
                              any_object(depth + 1));
      text += *any_blanks();
    }
    return text + ']';
  });
}

RC_GTEST_PROP(HookSettingsProperty, EveryByteComesBack, ()) {
  const std::string text = *any_blanks() + *any_object(0) + *any_blanks();
  const auto installed = with_groups(text, kHost, hook_groups(kHost, {}));
  RC_PRE(installed.has_value());  // "hooks" may hold something that is no list.
  RC_ASSERT(has_groups(*installed, kHost, hook_groups(kHost, {})));
  RC_ASSERT(without(*installed) == text);
}

}  // namespace
}  // namespace leasehold
