#include "engine/validate.h"

#include <gtest/gtest.h>

#include <cctype>
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
      {"mode that is none", [](auto& request) { request.mode = static_cast<Mode>(2); },
       Code::invalid_argument, "no mode 2. Choose shared or exclusive"},
      {"mode far from any", [](auto& request) { request.mode = static_cast<Mode>(-1); },
       Code::invalid_argument, "Choose shared or exclusive"},
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
       "reason is not valid UTF-8 (byte 1)"},
      {"huge room", [](auto& request) { request.room = std::string(5000, 'r'); }, Code::invalid_argument,
       "room"},
      {"NUL in the trace", [](auto& request) { request.trace = nul; }, Code::invalid_argument,
       "trace context contains a NUL"},
      {"huge name of a pair rule", [](auto& request) { request.paths.front().rule = std::string(5000, 'r'); },
       Code::invalid_argument, "pair rule"},
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

// What every message is: a sentence that says what is wrong, and one that says what to do.
void expect_sentence(const std::string& message, const char* name) {
  ASSERT_FALSE(message.empty()) << name;
  EXPECT_FALSE(std::islower(static_cast<unsigned char>(message.front()))) << name << ": " << message;
  EXPECT_EQ(message.back(), '.') << name << ": " << message;
  EXPECT_NE(message.find(". "), std::string::npos) << name << ": " << message;
}

TEST(BadRequest, IsToldInSentences) {
  for (const BadRequest& bad : bad_requests()) {
    AcquireRequest request = good();
    bad.spoil(request);

    expect_sentence(check_request(request, Policy{}).error().message, bad.name);
  }
}

TEST(ThousandsOfPaths, SaysHowManyPairingAdded) {
  AcquireRequest request = good();
  ask_for_thousands(request);
  for (WantedPath& wanted : request.paths) wanted.requested = &wanted == &request.paths.front();

  EXPECT_NE(
      check_request(request, Policy{}).error().message.find("5001 paths, 5000 of them added by pairing"),
      std::string::npos);
}

// Calls that name leases and say why, and calls that name a path or an owner: what is wrong with that is said
// before anything is looked at.
class BadCall : public testing::Test {
 protected:
  BadCall() {
    EXPECT_TRUE(world.manager.acquire(asking(ann(), {"/held"})));
    world.clock.advance(10min);  // The next good call would record that ann's time is up.
    before = world.everything();
  }

  template <class Answer>
  void expect_refused(const char* name, const Result<Answer>& answer, Code code) {
    ASSERT_FALSE(answer) << name;
    EXPECT_EQ(info(answer.error().code).name, info(code).name) << name << ": " << answer.error().message;
    EXPECT_LT(answer.error().message.size(), 1000U) << name;
    expect_sentence(answer.error().message, name);
    EXPECT_EQ(world.everything(), before) << name;
  }

  static Selection at(std::vector<std::string> paths) {
    Selection which;
    which.paths = std::move(paths);
    return which;
  }

  SmallWorld world;
  LeaseManager& manager = world.manager;
  std::string before;
  const Selection held = at({"/held"});
  const std::string huge = std::string(1'000'000, 'x');
};

TEST_F(BadCall, SaysNotWhichLeasesOrNotWhy) {
  Selection two_ways = held;
  two_ways.all = true;
  Holder huge_host = caller(bob()).holder;
  huge_host.host = huge;
  const Holder to_bob = caller(bob()).holder;

  const std::pair<const char*, Result<Outcomes>> calls[] = {
      {"release nothing", manager.release({caller(ann()), {}, {}})},
      {"release in two ways", manager.release({caller(ann()), two_ways, {}})},
      {"release for nobody", manager.release({caller({"", ""}), held, {}})},
      {"renew for nothing", manager.renew({caller(ann()), held, {}, 0ms})},
      {"renew in two ways", manager.renew({caller(ann()), two_ways, {}, {}})},
      {"renew from a huge host", manager.renew({{huge_host, false}, held, {}, {}})},
      {"downgrade nothing", manager.downgrade({caller(ann()), {}, {}})},
      {"transfer to nobody", manager.transfer({caller(ann()), held, caller({"", ""}).holder, "", false})},
      {"transfer to a huge host", manager.transfer({caller(ann()), held, huge_host, "", false})},
      {"transfer with a huge note", manager.transfer({caller(ann()), held, to_bob, huge, false})},
      {"force nothing", manager.force_release({"olga", {}, "because", {}})},
      {"force without a reason", manager.force_release({"olga", held, "", {}})},
      {"force with a huge reason", manager.force_release({"olga", held, huge, {}})},
      {"force as no text", manager.force_release({"\xff", held, "because", {}})},
      {"recall by now", manager.force_release({"olga", held, "because", 0ms})},
      {"recall by yesterday", manager.force_release({"olga", held, "because", -24h})},
  };
  for (const auto& [name, answer] : calls) expect_refused(name, answer, Code::invalid_argument);
}

TEST_F(BadCall, NamesWhatIsNoKey) {
  const Holder to_bob = caller(bob()).holder;
  for (const std::string& path : {std::string("src/a.h"), std::string("/a//b"), std::string("/a\0b", 4),
                                  std::string("/\xff"), std::string(), "/" + huge}) {
    const Selection which = at({"/held", path});
    expect_refused("release", manager.release({caller(ann()), which, {}}), Code::invalid_path);
    expect_refused("renew", manager.renew({caller(ann()), which, {}, {}}), Code::invalid_path);
    expect_refused("downgrade", manager.downgrade({caller(ann()), which, {}}), Code::invalid_path);
    expect_refused("transfer", manager.transfer({caller(ann()), which, to_bob, "", false}),
                   Code::invalid_path);
    expect_refused("force", manager.force_release({"olga", which, "because", {}}), Code::invalid_path);
    expect_refused("check", manager.check(caller(ann()), path, Token{}), Code::invalid_path);
    expect_refused("board", manager.board({.paths = {"/held", path}}), Code::invalid_path);
    expect_refused("history", manager.history({.path = path}), Code::invalid_path);
    AcquireRequest request = good();
    request.paths.front().path = path;
    expect_refused("upgrade", manager.upgrade(request), Code::invalid_path);
  }
}

TEST_F(BadCall, NamesThousands) {
  std::vector<std::string> paths;
  Selection ids;
  for (int i = 0; i < 1'001; ++i) {
    paths.push_back("/" + std::to_string(i));
    ids.ids.push_back(lease_id(i));
  }
  expect_refused("paths", manager.release({caller(ann()), at(paths), {}}), Code::limit_exceeded);
  expect_refused("ids", manager.release({caller(ann()), ids, {}}), Code::limit_exceeded);
  expect_refused("board", manager.board({.paths = paths}), Code::limit_exceeded);
}

TEST_F(BadCall, NamesWhatIsNoId) {
  for (const std::string& text : {huge, std::string("\xff"), std::string("a\0b", 3)}) {
    Selection by_id;
    by_id.ids = {{text}};
    Selection by_pr;
    by_pr.pr_id = text;
    expect_refused("id", manager.release({caller(ann()), by_id, {}}), Code::invalid_argument);
    expect_refused("pr", manager.release({caller(ann()), by_pr, {}}), Code::invalid_argument);
    expect_refused("ticket", manager.poll(caller(ann()), {text}), Code::invalid_argument);
    expect_refused("ticket", manager.cancel(caller(ann()), {text}), Code::invalid_argument);
  }
}

TEST_F(BadCall, ComesFromNobody) {
  const Owner nobody = {"", ""};
  expect_refused("check", manager.check(caller(nobody), "/held", Token{}), Code::invalid_argument);
  expect_refused("poll", manager.poll(caller(nobody), group_id(1)), Code::invalid_argument);
  expect_refused("cancel", manager.cancel(caller(nobody), group_id(1)), Code::invalid_argument);
  expect_refused("turn", manager.turn_started({.owner = nobody}), Code::invalid_argument);
  expect_refused("turn", manager.turn_stopped({.owner = {"ann", "no session"}}), Code::invalid_session);
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
