#include "engine/validate.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/small_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

AcquireRequest good() { return asking(ann(), {"/src/a.h"}); }

struct BadRequest {
  const char* name;
  std::function<void(AcquireRequest&)> spoil;
  Code code;
  const char* says;  // The part of the message that helps.
};

std::function<void(AcquireRequest&)> path(std::string text) {
  return [text = std::move(text)](AcquireRequest& request) { request.paths.front().path = text; };
}

std::function<void(AcquireRequest&)> agent(std::string id) {
  return [id = std::move(id)](AcquireRequest& request) { request.caller.holder.owner.agent_id = id; };
}

std::function<void(AcquireRequest&)> session(std::string id) {
  return [id = std::move(id)](AcquireRequest& request) { request.caller.holder.owner.session_id = id; };
}

void ask_for_thousands(AcquireRequest& request) {
  const WantedPath first = request.paths.front();
  for (int i = 0; i < 5000; ++i) {
    request.paths.push_back(first);
    request.paths.back().path += std::to_string(i);
  }
}

const std::vector<BadRequest>& bad_requests() {
  static const std::string nul("a\0b", 3);
  static const std::vector<BadRequest> cases = {
      {"no path", [](auto& request) { request.paths.clear(); }, Code::invalid_argument, "Name at least one"},
      {"thousands of paths", ask_for_thousands, Code::limit_exceeded, "--subtree"},

      {"empty path", path(""), Code::invalid_path, "empty"},
      {"relative path", path("src/a.h"), Code::invalid_path, "not a key"},
      {"huge path", path("/" + std::string(1'000'000, 'a')), Code::invalid_path, "1000001 bytes"},
      {"huge name", path("/" + std::string(300, 'a')), Code::invalid_path, "at most 255"},
      {"invalid UTF-8 in the path", path("/a\xff"), Code::invalid_path, "UTF-8 (byte 3)"},
      {"NUL in the path", path("/" + nul), Code::invalid_path, "NUL"},
      {"dot", path("/src/./a.h"), Code::invalid_path, "/src/a.h"},
      {"dot dot", path("/src/../a.h"), Code::invalid_path, "/a.h"},
      {"above the root", path("/../a.h"), Code::invalid_path, "outside the workspace"},
      {"two slashes", path("/src//a.h"), Code::invalid_path, "/src/a.h"},
      {"slash at the end", path("/src/"), Code::invalid_path, "/src"},
      {"backslash", path("/src\\a.h"), Code::invalid_path, "/src/a.h"},
      {"the key's other spelling", path("file:/src/a.h"), Code::invalid_path, "/src/a.h"},
      {"no kind", path(":3000"), Code::invalid_path, "not a key"},
      {"no name", path("port:"), Code::invalid_path, "not a key"},
      {"subtree of what is no path",
       [](auto& request) {
         request.paths.front().path = "port:3000";
         request.paths.front().subtree = true;
       },
       Code::invalid_argument, "not a directory"},

      {"source that is no key", [](auto& request) { request.paths.front().paired_with = {"/src//b.h"}; },
       Code::invalid_path, "/src/b.h"},
      {"source that is no text", [](auto& request) { request.paths.front().paired_with = {"/\xff"}; },
       Code::invalid_path, "UTF-8"},
      {"thousands of sources",
       [](auto& request) { request.paths.front().paired_with = std::vector<std::string>(5000, "/src/b.h"); },
       Code::limit_exceeded, "5000 sources"},

      {"ttl of nothing", [](auto& request) { request.ttl = 0ms; }, Code::invalid_argument, "positive"},
      {"negative ttl", [](auto& request) { request.ttl = -1ms; }, Code::invalid_argument, "at most 1h"},
      {"most negative ttl", [](auto& request) { request.ttl = Duration::min(); }, Code::invalid_argument,
       "positive"},
      {"no time to wait", [](auto& request) { request.wait = 0ms; }, Code::invalid_argument, "positive"},
      {"negative time to wait", [](auto& request) { request.wait = -5s; }, Code::invalid_argument,
       "positive"},
      {"priority too high", [](auto& request) { request.priority = 11; }, Code::invalid_argument,
       "from -10 to 10"},
      {"priority too low", [](auto& request) { request.priority = -11; }, Code::invalid_argument,
       "from -10 to 10"},
      {"fewer than no renewals", [](auto& request) { request.max_renewals = -2; }, Code::invalid_argument,
       "-1 for no limit"},

      {"no agent", agent(""), Code::invalid_argument, "1 to 128"},
      {"agent too long", agent(std::string(129, 'a')), Code::invalid_argument, "129 bytes"},
      {"agent with a line end", agent("ann\nbob"), Code::invalid_argument, "printable"},
      {"agent with a NUL", agent(nul), Code::invalid_argument, "printable"},
      {"agent with an escape", agent("\x1b[31mann"), Code::invalid_argument, "printable"},
      {"agent not in UTF-8", agent("ann\xc3"), Code::invalid_argument, "UTF-8"},

      {"session too long", session(std::string(129, 's')), Code::invalid_session, "129 bytes"},
      {"session with a space", session("a b"), Code::invalid_session, "letters, digits"},
      {"session that starts with a dot", session(".a"), Code::invalid_session, "letter or digit"},
      {"session with a slash", session("a/b"), Code::invalid_session, "letters, digits"},
      {"session with a line end", session("a\n"), Code::invalid_session, "letters, digits"},
      {"session not in ASCII", session("s\u00e9ance"), Code::invalid_session, "letters, digits"},

      {"huge reason", [](auto& request) { request.reason = std::string(1'000'000, 'r'); },
       Code::invalid_argument, "reason has 1000000 bytes"},
      {"reason not in UTF-8", [](auto& request) { request.reason = "\xff"; }, Code::invalid_argument,
       "reason"},
      {"huge room", [](auto& request) { request.room = std::string(5000, 'r'); }, Code::invalid_argument,
       "room"},
      {"NUL in the trace", [](auto& request) { request.trace = nul; }, Code::invalid_argument, "trace"},
      {"huge pr id", [](auto& request) { request.caller.holder.pr_id = std::string(5000, '1'); },
       Code::invalid_argument, "pr id"},
      {"huge host name", [](auto& request) { request.caller.holder.host = std::string(5000, 'h'); },
       Code::invalid_argument, "host"},
      {"huge machine id",
       [](auto& request) {
         request.caller.holder.process = process(1);
         request.caller.holder.process->machine_id = std::string(5000, 'm');
       },
       Code::invalid_argument, "machine id"},
      {"huge idempotency key", [](auto& request) { request.idempotency_key = std::string(5000, 'k'); },
       Code::invalid_argument, "idempotency key"},
  };
  return cases;
}

TEST(BadRequest, HasItsCodeAndAMessageThatHelps) {
  for (const BadRequest& bad : bad_requests()) {
    AcquireRequest request = good();
    bad.spoil(request);

    const auto checked = check_request(request, Policy{});

    ASSERT_FALSE(checked) << bad.name;
    EXPECT_EQ(info(checked.error().code).name, info(bad.code).name)
        << bad.name << ": " << checked.error().message;
    EXPECT_NE(checked.error().message.find(bad.says), std::string::npos)
        << bad.name << ": " << checked.error().message;
    EXPECT_LT(checked.error().message.size(), 1000U) << bad.name << ": nobody reads that";
  }
}

TEST(BadRequest, ChangesNothing) {
  SmallWorld world;
  ASSERT_TRUE(world.manager.acquire(asking(bob(), {"/held"})));
  world.clock.advance(10min);  // The next good request would record that bob's time is up.
  const std::string before = world.everything();

  for (const BadRequest& bad : bad_requests()) {
    AcquireRequest request = asking(ann(), {"/held"});
    bad.spoil(request);

    const auto answer = world.manager.acquire(request);

    ASSERT_FALSE(answer) << bad.name;
    EXPECT_EQ(info(answer.error().code).name, info(bad.code).name) << bad.name;
    EXPECT_EQ(world.everything(), before) << bad.name;
  }
}

// Release, renewal, transfer and force name leases and say why; what is wrong with that is said before
// anything is looked at.
TEST(BadCall, HasItsCodeAndChangesNothing) {
  SmallWorld world;
  ASSERT_TRUE(world.manager.acquire(asking(ann(), {"/held"})));
  world.clock.advance(10min);
  const std::string before = world.everything();
  Selection held;
  held.paths = {"/held"};
  Selection two_ways = held;
  two_ways.all = true;
  const std::string huge(1'000'000, 'x');
  LeaseManager& manager = world.manager;
  Holder huge_host = caller(bob()).holder;
  huge_host.host = huge;

  const std::pair<const char*, Result<Outcomes>> calls[] = {
      {"release nothing", manager.release({caller(ann()), {}, {}})},
      {"release in two ways", manager.release({caller(ann()), two_ways, {}})},
      {"release for nobody", manager.release({caller({"", ""}), held, {}})},
      {"renew for nothing", manager.renew({caller(ann()), held, {}, 0ms})},
      {"renew in two ways", manager.renew({caller(ann()), two_ways, {}, {}})},
      {"downgrade nothing", manager.downgrade({caller(ann()), {}, {}})},
      {"transfer to nobody", manager.transfer({caller(ann()), held, caller({"", ""}).holder, "", false})},
      {"transfer to a huge host", manager.transfer({caller(ann()), held, huge_host, "", false})},
      {"transfer with a huge note",
       manager.transfer({caller(ann()), held, caller(bob()).holder, huge, false})},
      {"force nothing", manager.force_release({"olga", {}, "because", {}})},
      {"force without a reason", manager.force_release({"olga", held, "", {}})},
      {"force with a huge reason", manager.force_release({"olga", held, huge, {}})},
      {"force as no text", manager.force_release({"\xff", held, "because", {}})},
      {"recall by now", manager.force_release({"olga", held, "because", 0ms})},
      {"recall by yesterday", manager.force_release({"olga", held, "because", -24h})},
  };

  for (const auto& [name, answer] : calls) {
    ASSERT_FALSE(answer) << name;
    EXPECT_EQ(answer.error().code, Code::invalid_argument) << name;
    EXPECT_LT(answer.error().message.size(), 1000U) << name;
  }
  EXPECT_EQ(world.everything(), before);
}

TEST(Recall, InAllEternityIsAVeryLongTime) {
  SmallWorld world;
  ASSERT_TRUE(world.manager.acquire(asking(ann(), {"/held"})));
  Selection held;
  held.paths = {"/held"};

  const auto answer = world.manager.force_release({"olga", held, "because", Duration::max()});

  ASSERT_TRUE(answer);
  EXPECT_GT(answer->outcomes.front().lease->recalled_at, world.clock.now() + 24h * 30);
}

TEST(GoodRequest, GetsTheProfilesDefaults) {
  Policy policy;
  policy.ttl = 7min;
  policy.max_renewals = 3;

  const auto checked = check_request(good(), policy);

  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->request.ttl, Duration(7min));
  EXPECT_EQ(checked->request.max_renewals, 3);
  EXPECT_EQ(checked->request.wait, std::nullopt);
  EXPECT_FALSE(checked->ttl_clamped);
}

TEST(GoodRequest, MayBeAtEveryLimit) {
  AcquireRequest request = good();
  request.caller.holder.owner = {std::string(128, 'a'), std::string(128, 's')};
  request.paths.front().path = "/" + std::string(255, 'n');
  request.ttl = 1h;
  request.max_renewals = -1;
  request.wait = 1ms;
  request.priority = 10;
  request.reason = std::string(4096, 'r');

  EXPECT_TRUE(check_request(request, Policy{}));
}

TEST(GoodRequest, AcceptsTheNamesThatAgentsHave) {
  for (const char* id :
       {"ann", "7c9e6679-7425-40de-944b-e07fc1f90ae7", "claude code", "a:b/c\\d", "\u00e9ric"}) {
    EXPECT_TRUE(check_owner({id, ""})) << id;
  }
  for (const char* id : {"", "7c9e6679-7425-40de-944b-e07fc1f90ae7", "A", "0._:-", "s1"}) {
    EXPECT_TRUE(check_owner({"ann", id})) << id;
  }
}

TEST(Ttl, AboveTheCapIsClampedAndTheAnswerSaysSo) {
  for (const Duration ttl : {Duration(1h + 1ms), Duration(24h * 365), Duration::max()}) {
    AcquireRequest request = good();
    request.ttl = ttl;

    const auto checked = check_request(request, Policy{});

    ASSERT_TRUE(checked);
    EXPECT_EQ(checked->request.ttl, Duration(1h));
    EXPECT_TRUE(checked->ttl_clamped);
  }
}

TEST(Ttl, IsClampedInTheGrantToo) {
  SmallWorld world;
  AcquireRequest request = good();
  request.ttl = 24h;

  const auto answer = world.manager.acquire(request);

  ASSERT_TRUE(answer);
  const auto* granted = std::get_if<Granted>(&answer->decision);
  ASSERT_NE(granted, nullptr);
  EXPECT_TRUE(granted->ttl_clamped);
  EXPECT_EQ(granted->leases.front().expires_at, world.clock.now() + 1h);
}

TEST(Waiting, IsRefusedWhereItIsSwitchedOff) {
  Policy policy;
  policy.waiting_allowed = false;
  AcquireRequest request = good();
  EXPECT_TRUE(check_request(request, policy));

  request.wait = 1s;
  const auto checked = check_request(request, policy);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::invalid_argument);
  EXPECT_NE(checked.error().message.find("without --wait"), std::string::npos) << checked.error().message;
}

TEST(Waiting, AboveTheProfilesBoundIsClamped) {
  const Policy job = profile_named("job")->policy;
  AcquireRequest request = good();
  request.wait = 1h;
  EXPECT_EQ(check_request(request, job)->request.wait, Duration(30s));
  request.wait = 10s;
  EXPECT_EQ(check_request(request, job)->request.wait, Duration(10s));
}

// What the longest representable time would do to `now + wait` is undefined.
TEST(Waiting, ForeverIsAVeryLongTime) {
  SmallWorld world;
  ASSERT_TRUE(world.manager.acquire(asking(bob(), {"/src/a.h"})));
  AcquireRequest request = good();
  request.wait = Duration::max();

  const auto answer = world.manager.acquire(request);

  ASSERT_TRUE(answer);
  const auto* queued = std::get_if<Queued>(&answer->decision);
  ASSERT_NE(queued, nullptr);
  EXPECT_GT(queued->wait_until, world.clock.now() + 24h * 30);
}

TEST(RepeatedPaths, AreOnePathWithTheSourcesOfBoth) {
  AcquireRequest request = asking(ann(), {"/t", "/a", "/t", "/t"});
  request.paths[0].requested = false;
  request.paths[0].paired_with = {"/x"};
  request.paths[2].requested = false;
  request.paths[2].paired_with = {"/y", "/x"};
  request.paths[3].subtree = true;  // Not the same: it covers more.

  const auto checked = check_request(request, Policy{});

  ASSERT_TRUE(checked);
  const std::vector<WantedPath>& paths = checked->request.paths;
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(paths[0].path, "/t");
  EXPECT_FALSE(paths[0].requested);
  EXPECT_EQ(paths[0].paired_with, (std::vector<std::string>{"/x", "/y"}));
  EXPECT_EQ(paths[1].path, "/a");
  EXPECT_TRUE(paths[2].subtree);
}

TEST(RepeatedPaths, AskedForAnywhereIsAskedFor) {
  AcquireRequest request = asking(ann(), {"/t", "/t"});
  request.paths[0].requested = false;
  EXPECT_TRUE(check_request(request, Policy{})->request.paths.front().requested);
}

TEST(Profile, KnowsItsNames) {
  EXPECT_EQ(profile_named("agent")->policy.ttl, Duration(5min));
  EXPECT_EQ(profile_named("agent")->policy.ttl_max, Duration(1h));
  EXPECT_EQ(profile_named("session")->policy.ttl, Duration(30s));
  EXPECT_EQ(profile_named("session")->policy.ttl_max, Duration(300s));
  EXPECT_EQ(profile_named("job")->policy.ttl, Duration(1h));
  EXPECT_EQ(profile_named("job")->policy.ttl_max, Duration(24h));
  EXPECT_EQ(profile_named("job")->policy.wait_max, Duration(30s));
  EXPECT_EQ(profile_named("job")->policy.max_renewals, -1);
}

TEST(Profile, AnUnknownNameListsTheKnownOnes) {
  for (const char* name : {"", "Agent", "jobs", "default"}) {
    const auto profile = profile_named(name);
    ASSERT_FALSE(profile) << name;
    EXPECT_EQ(profile.error().code, Code::invalid_argument);
    EXPECT_NE(profile.error().message.find("agent, session or job"), std::string::npos)
        << profile.error().message;
  }
}

}  // namespace
}  // namespace leasehold
