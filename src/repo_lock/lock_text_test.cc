#include "repo_lock/lock_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "util/utf8.h"

namespace leasehold::repo_lock {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 15) + 8h;
constexpr WallTime kChanged = kNow - 1min;
const Process kHere{.machine_id = "m", .boot_id = "b", .pid_namespace = 7};

std::optional<RepoLockInfo> parse(std::string_view text) {
  return parse_lock_text(text, kChanged, kNow, kHere);
}

TEST(LockText, IsJsonThatOthersCanRead) {
  EXPECT_EQ(lock_text({.pid = 42, .created_at = kNow}),
            "{\"pid\":42,\"created_at\":\"2026-11-15T08:00:00.000000Z\"}\n");
  const Process process{.machine_id = "m", .boot_id = "b", .pid_namespace = 7, .pid = 42, .start_time = 5};
  EXPECT_EQ(lock_text({.pid = 42, .created_at = kNow, .cmd = "push \"it\"", .process = process}),
            R"({"pid":42,"created_at":"2026-11-15T08:00:00.000000Z","cmd":"push \"it\"","start_time":5,)"
            R"("pid_namespace":7,"boot_id":"b","machine_id":"m"})"
            "\n");
}

TEST(LockText, IsReadBack) {
  const RepoLockInfo info{
      .pid = 42,
      .created_at = kNow - 5s,
      .cmd = "push",
      .process = Process{.machine_id = "x", .boot_id = "y", .pid_namespace = 9, .pid = 42, .start_time = 5}};

  EXPECT_EQ(parse(lock_text(info)), info);
}

TEST(LockText, OfOtherProgramsIsReadToo) {
  EXPECT_EQ(parse(R"({"pid":42,"created_at":"2026-11-15T09:59:00.123456789+02:00","unknown":[1]})"),
            (RepoLockInfo{.pid = 42, .created_at = kNow - 1min + 123'456us}));
}

TEST(LockText, WithOnlyAStartTimeMeansAProcessHere) {
  const auto info = parse(R"({"pid":42,"created_at":"2026-11-15T07:00:00Z","start_time":5})");

  ASSERT_TRUE(info);
  EXPECT_EQ(info->process, (Process{"m", "b", 7, 42, 5}));
}

TEST(LockText, WithoutAUsableMomentIsAsOldAsItsFile) {
  for (const char* text :
       {R"({"pid":42})", R"({"pid":42,"created_at":null})", R"({"pid":42,"created_at":1794727227})",
        R"({"pid":42,"created_at":"now"})", R"({"pid":42,"created_at":"2026-11-15T08:00:00.000001Z"})"}) {
    EXPECT_EQ(parse(text), (RepoLockInfo{.pid = 42, .created_at = kChanged})) << text;
  }
}

TEST(LockText, ThatIsNoneGivesNothing) {
  for (const char* text : {"", "{", "42", "[]", "null", "{\"pid\":42}x", "{\"pid\":42,\"cmd\":\"\xff\"}"}) {
    EXPECT_EQ(parse(text), std::nullopt) << text;
  }
}

TEST(LockText, WithoutAUsablePidStillHasItsMoment) {
  for (const char* pid :
       {"", R"("pid":"42",)", R"("pid":4.5,)", R"("pid":null,)", R"("pid":99999999999999999999,)"}) {
    const std::string text =
        std::string("{") + pid + R"("created_at":"2026-11-15T07:00:00Z","start_time":5})";
    EXPECT_EQ(parse(text), (RepoLockInfo{.created_at = kNow - 1h})) << text;
  }
  EXPECT_EQ(parse("{}"), (RepoLockInfo{.created_at = kChanged}));
}

TEST(LockText, KeepsACommandReadable) {
  EXPECT_EQ(presentable("push"), "push");
  EXPECT_EQ(presentable("a\xff"), "\"a\\xff\"");
  const std::string umlauts = [] {
    std::string text = "x";
    for (int i = 0; i < 1'000; ++i) text += "\u00e4";
    return text;
  }();
  EXPECT_EQ(presentable(umlauts), umlauts.substr(0, 1023) + "...");
}

RC_GTEST_PROP(LockText, HoldsAnyCommand, ()) {
  const auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());

  const auto info = parse(lock_text({.pid = 1, .created_at = kNow, .cmd = presentable(bytes)}));

  RC_ASSERT(info.has_value());
  RC_ASSERT(info->cmd == presentable(bytes));
}

RC_GTEST_PROP(LockText, IsReadTotally, (const std::string& text)) { (void)parse(text); }

}  // namespace
}  // namespace leasehold::repo_lock
