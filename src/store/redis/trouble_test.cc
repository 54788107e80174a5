// The server stops, comes back, comes back with less, hangs; the wire is cut. Nobody hangs, nobody is granted
// what another holds, and tokens rise.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "support/proxy.h"
#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

// No call may take longer: a connect and two round trips, each within its timeout, and much patience for a
// machine that does other things.
constexpr auto kBound = 20s;

std::string timed_acquire(RedisClient& client, const Owner& owner, const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  const std::string answer = word_for(client.acquire(owner, path));
  EXPECT_LT(std::chrono::steady_clock::now() - start, kBound) << "it hangs";
  return answer;
}

std::string acquire_when_back(RedisClient& client, const Owner& owner, const std::string& path) {
  std::string answer;
  eventually([&] { return (answer = timed_acquire(client, owner, path)) != "unavailable"; });
  return answer;
}

TEST(RedisTrouble, AServerThatIsStoppedIsUnavailableAndBackWithAllItKnew) {
  RedisServer server;
  RedisClient client(server.url());
  const Lease held = client.must_acquire(ann(), "/a");

  server.stop();
  EXPECT_EQ(timed_acquire(client, bob(), "/a"), "unavailable");
  EXPECT_EQ(timed_acquire(client, bob(), "/b"), "unavailable");
  server.start();

  EXPECT_EQ(acquire_when_back(client, bob(), "/a"), "busy");
  EXPECT_GT(client.must_acquire(bob(), "/b").token, held.token);
  EXPECT_TRUE(client.release(ann(), "/a"));
}

// The server takes nothing more; what is given back makes room again.
TEST(RedisTrouble, WhatIsHeldCanBeGivenBackWhenTheMemoryIsFull) {
  RedisServer server({"--maxmemory", "20mb", "--maxmemory-policy", "noeviction"});
  RedisClient client(server.url());
  client.must_acquire(ann(), "/a");
  client.must_acquire(ann(), "/b");
  AcquireRequest waits = RedisClient::request(bob(), "/b");
  waits.wait = 1min;
  ASSERT_EQ(word_for(client.manager->acquire(waits)), "queued");
  for (int i = 0; server.call({"SET", "ballast:" + std::to_string(i), std::string(100'000, 'x')}) == "OK";
       ++i)
    ASSERT_LT(i, 1000);
  for (int i = 0; server.call({"SET", "crumb:" + std::to_string(i), std::string(100, 'x')}) == "OK"; ++i)
    ASSERT_LT(i, 10'000);

  EXPECT_EQ(word_for(client.acquire(bob(), "/c")), "unavailable");
  const auto released = client.release(ann(), "/a");
  ASSERT_TRUE(released) << testing::PrintToString(released.error());
  EXPECT_FALSE(released->outcomes.at(0).error);
  EXPECT_TRUE(client.release(ann(), "/b"));
  EXPECT_EQ(client.waiting(), 0U) << "it is handed on";
  EXPECT_EQ(client.history().size(), 6U) << "acquired, acquired, queued, released, released, acquired";

  EXPECT_EQ(server.call({"STRLEN", "lease:spare"}), "1048576") << "it is there for the next time";

  server.call({"FLUSHALL"});
  EXPECT_EQ(word_for(client.acquire(bob(), "/c")), "granted");
}

TEST(RedisTrouble, AKilledServerKeepsWhatItAcknowledgedAndWroteDown) {
  RedisServer server({"--appendfsync", "always"});
  RedisClient client(server.url());
  const Lease held = client.must_acquire(ann(), "/a");

  server.kill_hard();
  server.start();

  EXPECT_EQ(acquire_when_back(client, bob(), "/a"), "busy");
  EXPECT_GT(client.must_acquire(bob(), "/b").token, held.token);
}

TEST(RedisTrouble, AfterARestartWithOlderDataTokensStillRise) {
  RedisServer server({"--appendfsync", "always"});
  RedisClient client(server.url());
  client.must_acquire(ann(), "/old");
  const std::string data = server.folder() + "/appendonlydir";
  std::filesystem::copy(data, server.folder() + "/saved", std::filesystem::copy_options::recursive);
  Lease lost;
  for (int i = 0; i < 20; ++i) lost = client.must_acquire(ann(), "/" + std::to_string(i));

  server.kill_hard();
  std::filesystem::remove_all(data);
  std::filesystem::rename(server.folder() + "/saved", data);
  server.start();

  EXPECT_EQ(acquire_when_back(client, bob(), "/old"), "busy");
  EXPECT_GT(client.must_acquire(bob(), lost.path).token, lost.token);
  const auto renewed = client.manager->renew({.caller = {{.owner = ann()}}, .which = {.ids = {lost.id}}});
  ASSERT_TRUE(renewed);
  ASSERT_TRUE(renewed->outcomes[0].error) << "a lease that the server forgot was renewed";
}

TEST(RedisTrouble, AfterAFlushTokensStillRiseAndNothingIsHeld) {
  RedisServer server;
  RedisClient client(server.url());
  const Lease held = client.must_acquire(ann(), "/a");

  EXPECT_EQ(server.call({"FLUSHALL"}), "OK");
  EXPECT_EQ(server.call({"SCRIPT", "FLUSH"}), "OK");

  EXPECT_GT(client.must_acquire(bob(), "/a").token, held.token);
  const auto check = client.manager->check({{.owner = ann()}}, "/a", held.token);
  ASSERT_TRUE(check);
  EXPECT_FALSE(check->current);
}

TEST(RedisTrouble, AServerThatHangsIsUnavailableWithinTheTimeout) {
  RedisServer server;
  RedisClient client(server.url());
  client.must_acquire(ann(), "/a");

  server.pause();
  EXPECT_EQ(timed_acquire(client, bob(), "/a"), "unavailable");
  EXPECT_EQ(timed_acquire(client, bob(), "/b"), "unavailable");
  EXPECT_FALSE(client.store->listen(kWorkspace, group_id(1)));
  server.go_on();

  EXPECT_EQ(acquire_when_back(client, bob(), "/a"), "busy");
  EXPECT_EQ(acquire_when_back(client, bob(), "/b"), "granted");
}

// Who is silent on a connection that idled is no better on another one.
TEST(RedisTrouble, AServerThatHangsIsAskedOnce) {
  RedisServer server;
  Proxy proxy(server.socket());
  RedisClient client(proxy.url());
  client.must_acquire(ann(), "/a");
  std::atomic<int> asked = 0;
  proxy.judge_by([&](bool to_server, std::string_view) {
    asked += to_server ? 1 : 0;
    return Proxy::Fate::forward;
  });

  server.pause();
  EXPECT_EQ(timed_acquire(client, bob(), "/b"), "unavailable");
  EXPECT_EQ(asked, 1);
  server.go_on();
  EXPECT_EQ(acquire_when_back(client, bob(), "/b"), "granted");
}

TEST(RedisTrouble, WhoIsDisturbedEachTimeGivesUpAndHasWrittenNothing) {
  RedisServer server;
  Proxy proxy(server.socket());
  RedisClient client(proxy.url());
  client.must_acquire(ann(), "/a");
  std::atomic<int> tries = 0;
  proxy.judge_by([&](bool to_server, std::string_view bytes) {
    if (to_server && bytes.find("EXEC\r\n") != std::string_view::npos) {
      ++tries;
      // What everybody who is about to grant something watches.
      server.call({"SET", std::string("{") + kWorkspace + "}:lease:guard", "1", "PX", "1"});
    }
    return Proxy::Fate::forward;
  });

  EXPECT_EQ(timed_acquire(client, bob(), "/b"), "transaction_conflict");
  EXPECT_EQ(tries, RedisOptions().attempts_max);
  EXPECT_EQ(client.history().size(), 1U);
  proxy.judge_by([](bool, std::string_view) { return Proxy::Fate::forward; });
  EXPECT_EQ(timed_acquire(client, bob(), "/b"), "granted");
}

TEST(RedisTrouble, WhoWaitsSeldomAsks) {
  RedisServer server;
  Proxy proxy(server.socket());
  RedisClient client(proxy.url());
  client.must_acquire(ann(), "/a");
  AcquireRequest waits = RedisClient::request(bob(), "/a");
  waits.wait = 1s;
  std::atomic<int> asked = 0;
  proxy.judge_by([&](bool to_server, std::string_view) {
    asked += to_server ? 1 : 0;
    return Proxy::Fate::forward;
  });

  EXPECT_EQ(word_for(client.manager->acquire_and_wait(waits)), "timeout");
  EXPECT_LT(asked, 20) << "a second of looking every 100 ms would be more";
}

TEST(RedisTrouble, AnUnreachableServerCannotBeOpened) {
  const TempFolder folder;
  const auto store = open_redis_store("redis+unix://" + folder.path() + "/nobody", RedisClient::quick());

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::unavailable);
}

// Cuts the wire at the next EXEC, before or after the server got it.
void cut_at_exec(Proxy& proxy, bool after, std::atomic<int>& cuts) {
  auto seen = std::make_shared<bool>(false);
  proxy.judge_by([=, &cuts](bool to_server, std::string_view bytes) {
    if (to_server && bytes.find("EXEC\r\n") != std::string_view::npos && cuts == 0) {
      if (!after) {
        ++cuts;
        return Proxy::Fate::cut;
      }
      *seen = true;
    } else if (!to_server && *seen && cuts == 0) {
      ++cuts;
      return Proxy::Fate::cut;
    }
    return Proxy::Fate::forward;
  });
}

TEST(RedisTrouble, WhereTheWireIsCutBeforeExecNothingHappenedAndNobodyKnows) {
  RedisServer server;
  Proxy proxy(server.socket());
  RedisClient client(proxy.url());
  client.must_acquire(bob(), "/elsewhere");
  std::atomic<int> cuts = 0;
  cut_at_exec(proxy, false, cuts);

  EXPECT_EQ(timed_acquire(client, ann(), "/a"), "outcome_unknown");

  EXPECT_EQ(cuts, 1);
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "granted");
}

TEST(RedisTrouble, WhereTheWireIsCutAfterExecItHappenedAndAskingAgainIsSafe) {
  RedisServer server;
  Proxy proxy(server.socket());
  RedisClient client(proxy.url());
  client.must_acquire(bob(), "/elsewhere");
  std::atomic<int> cuts = 0;
  cut_at_exec(proxy, true, cuts);
  AcquireRequest request = RedisClient::request(ann(), "/a");
  request.idempotency_key = "once";

  EXPECT_EQ(word_for(client.manager->acquire(request)), "outcome_unknown");
  EXPECT_EQ(cuts, 1);

  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "busy");
  const auto again = client.manager->acquire(request);
  ASSERT_EQ(word_for(again), "granted");
  EXPECT_TRUE(std::get<Granted>(again->decision).replayed);
  std::size_t grants = 0;
  for (const Event& event : client.history())
    grants += event.path == "/a" && event.type == EventType::acquired;
  EXPECT_EQ(grants, 1U);
}

// The server has a part of the commit's commands, and forgets them.
TEST(RedisTrouble, HalfATransactionIsNone) {
  RedisServer server;
  Proxy proxy(server.socket());
  RedisClient client(proxy.url());
  std::atomic<int> cuts = 0;
  proxy.judge_by([&](bool to_server, std::string_view bytes) {
    const bool commits = to_server && bytes.find("MULTI\r\n") != std::string_view::npos;
    return commits && ++cuts == 1 ? Proxy::Fate::halve : Proxy::Fate::forward;
  });

  EXPECT_EQ(timed_acquire(client, ann(), "/a"), "outcome_unknown");

  EXPECT_EQ(server.call({"EXISTS", "{here}:lease:file:/a", "{here}:lease:history"}), "0");
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "granted");
}

TEST(RedisTrouble, AWaiterSurvivesARestartOfTheServer) {
  RedisServer server;
  RedisClient holder(server.url());
  RedisClient waiter(server.url());
  holder.must_acquire(ann(), "/a");
  std::string answer;
  std::jthread waiting([&] {
    AcquireRequest request = RedisClient::request(bob(), "/a");
    request.wait = 1min;
    answer = word_for(waiter.manager->acquire_and_wait(request));
  });
  ASSERT_TRUE(eventually([&] { return holder.waiting() == 1; }));

  server.stop();
  server.start();
  ASSERT_TRUE(eventually([&] { return holder.release(ann(), "/a").has_value(); }));

  waiting.join();
  EXPECT_EQ(answer, "granted");
}

}  // namespace
}  // namespace leasehold
