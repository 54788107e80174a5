// Transactions that read more than the server can watch key by key.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <sstream>

#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

constexpr int kCall = 1000;  // As many as one call may name.

struct RedisMany : testing::Test {
  // Patience for a machine that does other things.
  static RedisOptions patient() { return {.connect_timeout = 20s, .command_timeout = 60s}; }

  void hold(const Owner& owner, const std::string& folder, int count) {
    for (int from = 0; from < count; from += kCall) {
      AcquireRequest request{.caller = {{.owner = owner}}, .ttl = 10min};
      for (int i = from; i < std::min(count, from + kCall); ++i)
        request.paths.push_back({.path = folder + "/" + std::to_string(i)});
      ASSERT_EQ(word_for(client.manager->acquire(request)), "granted");
    }
  }

  static std::size_t failed(const Outcomes& outcomes) {
    std::size_t count = 0;
    for (const Outcome& outcome : outcomes.outcomes) count += outcome.error ? 1 : 0;
    return count;
  }

  RedisDatabase database;
  RedisClient client{database.url(), patient()};
};

TEST_F(RedisMany, AnOwnerRenewsAndReleasesAllItCouldAcquire) {
  constexpr int kLeases = 1500;
  hold(ann(), "/d", kLeases);

  const auto renewed = client.manager->renew({.caller = {{.owner = ann()}}, .which = {.all = true}});
  ASSERT_TRUE(renewed) << testing::PrintToString(renewed.error());
  EXPECT_EQ(renewed->outcomes.size(), std::size_t{kLeases});
  EXPECT_EQ(failed(*renewed), 0U);

  const auto released = client.manager->release({.caller = {{.owner = ann()}}, .which = {.all = true}});
  ASSERT_TRUE(released) << testing::PrintToString(released.error());
  EXPECT_EQ(released->outcomes.size(), std::size_t{kLeases});
  EXPECT_EQ(failed(*released), 0U);
  EXPECT_EQ(database.call({"ZCARD", "{here}:lease:paths"}), "0");
  EXPECT_EQ(database.call({"EXISTS", "{here}:lease:session:" + ann().session_id}), "0");
}

TEST_F(RedisMany, ADirectoryWithManyLeasesInItIsRefusedAndThenGranted) {
  hold(ann(), "/d", 700);
  AcquireRequest request = RedisClient::request(bob(), "/d");
  request.paths[0].subtree = true;
  EXPECT_EQ(word_for(client.manager->acquire(request)), "busy");

  ASSERT_TRUE(client.manager->release({.caller = {{.owner = ann()}}, .which = {.all = true}}));
  EXPECT_EQ(word_for(client.manager->acquire(request)), "granted");
}

// It stands in as many queues as it has paths, and the record has them all.
TEST(RedisWaiting, ARequestForManyPathsIsReadOnceHoweverManyQueuesItStandsIn) {
  constexpr long kMegabyte = 1'000'000;
  const RedisServer server;
  RedisClient client(server.url(), RedisMany::patient());
  const auto sent = [&] { return server.number("stats", "total_net_output_bytes:"); };
  const auto reads = [&] { return server.number("commandstats", "cmdstat_evalsha:calls="); };
  AcquireRequest all{.caller = {{.owner = ann()}}, .ttl = 10min};
  for (int i = 0; i < kCall; ++i) all.paths.push_back({.path = "/d/" + std::to_string(i)});
  ASSERT_EQ(word_for(client.manager->acquire(all)), "granted");
  all.caller.holder.owner = bob();
  all.wait = 5min;
  const auto queued = client.manager->acquire(all);
  ASSERT_EQ(word_for(queued), "queued");

  long before = sent();
  EXPECT_EQ(word_for(client.manager->poll(all.caller, std::get<Queued>(queued->decision).ticket)), "queued");
  EXPECT_LT(sent() - before, 2 * kMegabyte);

  all.caller.holder.owner = {.agent_id = "carol", .session_id = "s-carol"};
  all.wait.reset();
  before = sent();
  EXPECT_EQ(word_for(client.manager->acquire(all)), "busy");
  EXPECT_LT(sent() - before, 2 * kMegabyte);

  // By another process, which knows nothing of who waits.
  RedisClient other(server.url(), RedisMany::patient());
  before = sent();
  const long reads_before = reads();
  ASSERT_TRUE(other.manager->release({.caller = {{.owner = ann()}}, .which = {.all = true}}));
  EXPECT_LT(sent() - before, 4 * kMegabyte);
  EXPECT_LT(reads() - reads_before, 50);
}

// The server compares each key with all that are watched already, and does nothing else meanwhile.
TEST(RedisWatching, IsOfFewKeysWhateverIsAsked) {
  const RedisServer server({"--slowlog-log-slower-than", "0", "--slowlog-max-len", "10000"});
  RedisClient client(server.url(), {.connect_timeout = 20s, .command_timeout = 60s});
  AcquireRequest request{.caller = {{.owner = ann()}}, .ttl = 10min};
  for (int i = 0; i < 600; ++i) request.paths.push_back({.path = "/d/" + std::to_string(i)});
  ASSERT_EQ(word_for(client.manager->acquire(request)), "granted");
  ASSERT_TRUE(client.manager->renew({.caller = {{.owner = ann()}}, .which = {.all = true}}));
  AcquireRequest directory = RedisClient::request(bob(), "/d");
  directory.paths[0].subtree = true;
  ASSERT_EQ(word_for(client.manager->acquire(directory)), "busy");
  ASSERT_TRUE(client.manager->release({.caller = {{.owner = ann()}}, .which = {.all = true}}));

  // The log shows the first 31 words of a command, and how many more there are.
  std::istringstream log(server.call({"SLOWLOG", "GET", "10000"}));
  int watches = 0;
  int most = 0;
  bool is_watch = false;
  for (std::string line; std::getline(log, line);) {
    if (line == "WATCH") ++watches;
    // A command is followed by its client's address.
    is_watch = line == "WATCH" || (is_watch && !line.ends_with("/s:0"));
    int more = 0;
    if (is_watch && std::sscanf(line.c_str(), "... (%d more arguments)", &more) == 1)
      most = std::max(most, more);
  }
  EXPECT_GE(watches, 4);
  EXPECT_LE(most, 500);
}

// Whatever of it another one changes, the body sees the change and runs again.
TEST_F(RedisMany, AChangeToAnyKeyThatWasReadIsNoticed) {
  hold(ann(), "/d", 600);
  RedisClient other(database.url(), patient());
  for (const char* path : {"/d/0", "/d/599", "/elsewhere"}) {
    int runs = 0;
    bool is_held = true;
    const auto done =
        client.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
          const std::vector<Lease> below = transaction.leases_at({"/d", true});
          is_held = std::ranges::find(below, path, &Lease::path) != below.end();
          if (++runs == 1) {
            if (is_held) {
              EXPECT_TRUE(other.release(ann(), path));
            } else {
              other.must_acquire(bob(), path);
            }
          }
          transaction.append({.type = EventType::acquired, .path = path});
          return {};
        });
    EXPECT_TRUE(done) << path;
    EXPECT_EQ(runs, 2) << path;
    EXPECT_FALSE(is_held) << path;
  }
}

// Others hold back for as long as one that was disturbed needs.
TEST_F(RedisMany, OneThatReadsMuchGetsThroughWhileOthersWork) {
  hold(ann(), "/d", 700);
  std::atomic<bool> enough = false;
  std::vector<std::jthread> others;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&, i] {
      RedisClient other(database.url(), patient());
      const std::string path = "/other/" + std::to_string(i);
      while (!enough) {
        if (word_for(other.acquire(bob(), path)) != "granted") ++refused;
        if (!other.release(bob(), path)) ++refused;
      }
    });
  }
  for (int i = 0; i < 3; ++i) {
    const auto renewed = client.manager->renew({.caller = {{.owner = ann()}}, .which = {.all = true}});
    EXPECT_TRUE(renewed) << testing::PrintToString(renewed.error());
  }
  enough = true;
  others.clear();
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace leasehold
