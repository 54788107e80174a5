// What goes over the wire: how often, and under which names.
#include <gtest/gtest.h>

#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

std::int64_t calls(const RedisServer& server, const std::string& command) {
  return server.number("commandstats", "cmdstat_" + command + ":calls=");
}

struct Trips {
  std::int64_t trips, watch, exec;
  bool operator==(const Trips&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Trips& count) {
  return out << count.trips << " round trips, " << count.watch << " WATCH, " << count.exec << " EXEC";
}

// How often the server read from a connection meanwhile, and for asking that.
std::int64_t reads(RedisServer& server, const std::function<void()>& call) {
  server.call({"CONFIG", "RESETSTAT"});
  call();
  return server.number("stats", "total_reads_processed:");
}

Trips count(RedisServer& server, const std::function<void()>& call) {
  const std::int64_t by_asking = reads(server, [] {});
  const std::int64_t all = reads(server, call);
  return {.trips = all - by_asking, .watch = calls(server, "watch"), .exec = calls(server, "exec")};
}

TEST(RedisProtocol, AcquireAndReleaseTakeTwoRoundTripsEach) {
  RedisServer server;
  RedisClient client(server.url());
  client.must_acquire(ann(), "/src/api/a.ts");
  ASSERT_TRUE(client.release(ann(), "/src/api/a.ts"));
  const Trips two = {.trips = 2, .watch = 1, .exec = 1};
  Lease lease;

  EXPECT_EQ(count(server, [&] { lease = client.must_acquire(ann(), "/src/api/a.ts"); }), two);
  EXPECT_EQ(count(server, [&] { EXPECT_TRUE(client.release(ann(), "/src/api/a.ts")); }), two);

  lease = client.must_acquire(ann(), "/src/api/a.ts");
  EXPECT_EQ(count(server,
                  [&] {
                    EXPECT_TRUE(
                        client.manager->renew({.caller = {{.owner = ann()}}, .which = {.ids = {lease.id}}}));
                  }),
            two);
  EXPECT_EQ(
      count(server,
            [&] {
              EXPECT_TRUE(client.manager->release({.caller = {{.owner = ann()}}, .which = {.all = true}}));
            }),
      two);
}

TEST(RedisProtocol, TwoRoundTripsAreEnoughWhereSomebodyHasADirectoryOrWaits) {
  RedisServer server;
  RedisClient client(server.url());
  AcquireRequest directory = RedisClient::request(bob(), "/elsewhere");
  directory.paths[0].subtree = true;
  ASSERT_EQ(word_for(client.manager->acquire(directory)), "granted");
  const Trips two = {.trips = 2, .watch = 1, .exec = 1};
  const auto pair = [&] {
    const Trips acquired = count(server, [&] { client.must_acquire(ann(), "/src/api/a.ts"); });
    const Trips released = count(server, [&] { EXPECT_TRUE(client.release(ann(), "/src/api/a.ts")); });
    return std::pair(acquired, released);
  };

  pair();  // Finds out that there is one.
  EXPECT_EQ(pair(), std::pair(two, two));

  AcquireRequest waits = RedisClient::request({"carol", "session-c"}, "/elsewhere/b");
  waits.wait = 1min;
  ASSERT_EQ(word_for(client.manager->acquire(waits)), "queued");
  pair();
  EXPECT_EQ(pair(), std::pair(two, two));

  ASSERT_TRUE(client.release(bob(), "/elsewhere"));
  pair();
  EXPECT_EQ(pair(), std::pair(two, two));
  EXPECT_EQ(server.call({"EXISTS", std::string("{") + kWorkspace + "}:lease:dirs"}), "0");
}

TEST(RedisProtocol, ARefusalIsOneRoundTripAndWritesNothing) {
  RedisServer server;
  RedisClient client(server.url());
  client.must_acquire(ann(), "/a");

  EXPECT_EQ(count(server, [&] { EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "busy"); }),
            (Trips{.trips = 1, .watch = 1, .exec = 0}));
}

TEST(RedisProtocol, ALookAfterATicketTakesAsManyRoundTripsForManyPaths) {
  RedisServer server;
  RedisClient client(server.url());
  client.must_acquire(ann(), "/0");
  const auto trips_of_a_look = [&](int paths) {
    AcquireRequest waits = RedisClient::request(bob(), "/0");
    for (int i = 1; i < paths; ++i) waits.paths.push_back({.path = "/" + std::to_string(i)});
    waits.wait = 1min;
    const auto queued = client.manager->acquire(waits);
    EXPECT_EQ(word_for(queued), "queued");
    const GroupId ticket = std::get<Queued>(queued->decision).ticket;
    const auto look = [&] { EXPECT_EQ(word_for(client.manager->poll(waits.caller, ticket)), "queued"); };
    look();
    const Trips trips = count(server, look);
    EXPECT_TRUE(client.manager->cancel(waits.caller, ticket));
    return trips.trips;
  };

  EXPECT_LE(trips_of_a_look(60), trips_of_a_look(2));
}

TEST(RedisProtocol, TheFirstAcquireOnAFreshConnectionIsTwoRoundTripsToo) {
  RedisServer server;
  RedisClient(server.url()).must_acquire(bob(), "/b");  // The very first one looks whether anything is there.
  server.call({"SCRIPT", "FLUSH"});
  RedisClient client(server.url());

  const auto reads_before = server.number("stats", "total_reads_processed:");
  client.must_acquire(ann(), "/a");
  const auto reads_after = server.number("stats", "total_reads_processed:");

  // One each for a script the server does not know yet, the two of the acquire, and the two questions here.
  EXPECT_LE(reads_after - reads_before, 5);
}

TEST(RedisProtocol, AnEmptyNamespaceGivesTheNamesOthersKnow) {
  RedisServer server;
  RedisOptions options = RedisClient::quick();
  options.name_space = "";
  RedisClient client(server.url(), options);
  AcquireRequest request = RedisClient::request(ann(), "/src/a.ts");
  request.caller.holder.pr_id = "7";

  ASSERT_EQ(word_for(client.manager->acquire(request)), "granted");

  const std::string document = server.call({"GET", "lease:file:/src/a.ts"});
  EXPECT_TRUE(document.starts_with(R"({"agentId":")" + ann().agent_id + R"(","prId":"7","timestamp":)"))
      << document;
  EXPECT_NE(document.find(R"("ttl":300000,"leases":[{)"), std::string::npos) << document;
  EXPECT_EQ(server.call({"SMEMBERS", "lease:agent:" + ann().agent_id}), "/src/a.ts");
  EXPECT_EQ(server.call({"SMEMBERS", "lease:pr:7"}), "/src/a.ts");
  const auto life = std::stoll(server.call({"PTTL", "lease:file:/src/a.ts"}));
  EXPECT_GT(life, 290'000);
  EXPECT_LE(life, 300'001);

  ASSERT_TRUE(client.release(ann(), "/src/a.ts"));
  EXPECT_EQ(server.call({"EXISTS", "lease:file:/src/a.ts", "lease:agent:" + ann().agent_id, "lease:pr:7"}),
            "0");
}

TEST(RedisProtocol, WhatIsReleasedAndForgottenLeavesNoKeysBehind) {
  RedisServer server;
  RedisClient client(server.url());
  client.must_acquire(ann(), "/src/a.ts");
  ASSERT_TRUE(client.release(ann(), "/src/a.ts"));
  ASSERT_TRUE(client.store->transact({.workspace = kWorkspace}, [](Transaction& transaction) -> Result<void> {
    transaction.forget(kForever, WallTime::max(), 100);
    return {};
  }));

  // The history stays, empty, so that its numbers go on rising; and so do the token, the key of changes and
  // the mark of the format.
  EXPECT_EQ(server.call({"DBSIZE"}), "4") << server.call({"KEYS", "*"});
}

TEST(RedisProtocol, LeasesThatRanOutAreRecordedAlthoughTheirKeyIsGone) {
  RedisServer server;
  RedisClient client(server.url());
  const Lease lapsed = client.must_acquire(ann(), "/a", 50ms);
  ASSERT_TRUE(eventually([&] { return server.call({"EXISTS", "{here}:lease:file:/a"}) == "0"; }));

  EXPECT_GT(client.must_acquire(bob(), "/a").token, lapsed.token);
  std::vector<EventType> types;
  for (const Event& event : client.history()) types.push_back(event.type);
  EXPECT_EQ(types, (std::vector{EventType::acquired, EventType::expired, EventType::acquired}))
      << "whoever comes next records it, before its own";
  ASSERT_TRUE(client.manager->sweep(false));

  std::size_t expired = 0;
  for (const Event& event : client.history())
    expired += event.type == EventType::expired && event.lease_id == lapsed.id;
  EXPECT_EQ(expired, 1U);
  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "busy") << "sweeping ended the wrong lease";
}

TEST(RedisProtocol, WhoWasDeniedIsForgottenOnceItIsGranted) {
  RedisServer server;
  RedisClient client(server.url());
  client.must_acquire(ann(), "/a");
  client.must_acquire(ann(), "/b");
  const auto denied = [&] { return server.call({"KEYS", "*lease:denied"}); };

  EXPECT_TRUE(client.manager->gate({.wanted = RedisClient::request(bob(), "/a")}));
  EXPECT_TRUE(client.manager->gate({.wanted = RedisClient::request(bob(), "/b")}));
  EXPECT_NE(denied(), "");
  EXPECT_TRUE(client.release(ann(), "/a"));
  client.must_acquire(bob(), "/a");
  EXPECT_NE(denied(), "") << "/b is still denied";
  EXPECT_TRUE(client.release(ann(), "/b"));
  client.must_acquire(bob(), "/b");
  EXPECT_EQ(denied(), "");
}

TEST(RedisProtocol, AWaiterGetsWhatRanOut) {
  RedisServer server;
  RedisClient holder(server.url());
  RedisClient waiter(server.url());
  holder.must_acquire(ann(), "/a", 300ms);
  AcquireRequest request = RedisClient::request(bob(), "/a");
  request.wait = 1min;

  EXPECT_EQ(word_for(waiter.manager->acquire_and_wait(request)), "granted");
}

TEST(RedisProtocol, ADirectoryIsGrantedThoughFilesBelowItComeAndGo) {
  RedisServer server;
  std::atomic<bool> stop = false;
  std::atomic<int> pairs = 0;
  std::vector<std::jthread> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back([&, i] {
      RedisClient client(server.url());
      const Owner owner = {"worker " + std::to_string(i), "s"};
      const std::string path = "/hot/" + std::to_string(i);
      while (!stop) {
        if (word_for(client.acquire(owner, path)) == "granted" && client.release(owner, path)) ++pairs;
      }
    });
  }
  RedisClient client(server.url());
  ASSERT_TRUE(eventually([&] { return pairs > 20; }));
  AcquireRequest request = RedisClient::request(ann(), "/hot");
  request.paths[0].subtree = true;
  request.wait = 20s;

  EXPECT_EQ(word_for(client.manager->acquire_and_wait(request)), "granted");
  stop = true;
}

}  // namespace
}  // namespace leasehold
