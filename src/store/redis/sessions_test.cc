// How sessions look in Redis, to those who read the keys.
#include <gtest/gtest.h>

#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

struct RedisSessions : testing::Test {
  void use(std::optional<Duration> life, const RedisOptions& options = RedisClient::quick()) {
    client = std::make_unique<RedisClient>(database.url(), options);
    Policy policy = profile_named("session")->policy;
    policy.session_life = life;
    client->use_policy(policy);
  }
  std::string call(std::vector<std::string> words) { return database.call(words); }
  std::string ask(const std::string& path) { return word_for(client->acquire({"ann", "s1"}, path, 30s)); }

  RedisDatabase database;
  std::unique_ptr<RedisClient> client;
};

TEST_F(RedisSessions, AreKeptUnderTheNamesThatWereAskedFor) {
  RedisOptions literal = RedisClient::quick();
  literal.name_space = "";
  use(std::nullopt, literal);

  ASSERT_EQ(ask("/src/a.ts"), "granted");

  EXPECT_EQ(call({"HGETALL", "session:locks:s1"}),
            "/src/a.ts\n{\"path\":\"/src/a.ts\",\"mode\":\"exclusive\"}");
  EXPECT_EQ(call({"PTTL", "session:locks:s1"}), "-1") << "it does not expire";
  const std::string left = call({"PTTL", "lease:rate:s1"});
  EXPECT_GT(std::stoi(left), 0);
  EXPECT_LE(std::stoi(left), 60'001);
  ASSERT_TRUE(client->release({"ann", "s1"}, "/src/a.ts"));
  EXPECT_EQ(call({"EXISTS", "session:locks:s1"}), "0");
}

TEST_F(RedisSessions, ExpireWithTheirHistory) {
  use(1h);
  ASSERT_EQ(ask("/a"), "granted");
  EXPECT_GT(std::stoi(call({"PTTL", "{here}:session:locks:s1"})), 3'500'000);

  use(std::nullopt);
  ASSERT_EQ(ask("/a"), "granted");
  EXPECT_EQ(call({"PTTL", "{here}:session:locks:s1"}), "-1");
}

TEST_F(RedisSessions, AreKeptAsLongAsTheirLatestPathWantsIt) {
  use(10h);
  ASSERT_EQ(ask("/a"), "granted");
  use(1h);
  ASSERT_EQ(ask("/b"), "granted");
  EXPECT_GT(std::stoi(call({"PTTL", "{here}:session:locks:s1"})), 35'000'000) << "/b ends /a";

  use(std::nullopt);
  ASSERT_EQ(ask("/c"), "granted");
  use(1h);
  ASSERT_EQ(ask("/d"), "granted");
  EXPECT_EQ(call({"PTTL", "{here}:session:locks:s1"}), "-1") << "/c is kept for good";
}

TEST_F(RedisSessions, PassOverWhatCannotBeRead) {
  use(std::nullopt);
  ASSERT_EQ(ask("/a"), "granted");
  call({"HSET", "{here}:session:locks:s1", "/b", "garbage", "/c", "{\"path\":\"/other\"}", "/d",
        "{\"path\":\"/d\",\"mode\":\"odd\"}"});

  const auto found = client->manager->session_paths("s1");

  ASSERT_TRUE(found);
  ASSERT_EQ(found->paths.size(), 1U);
  EXPECT_EQ(found->paths[0].path, "/a");
  EXPECT_EQ(found->invalid.size(), 3U);
}

TEST_F(RedisSessions, ThatCannotBeWrittenAreNotGranted) {
  use(std::nullopt);
  call({"SET", "{here}:session:locks:s1", "of another type"});

  EXPECT_EQ(ask("/a"), "unavailable");

  EXPECT_EQ(call({"EXISTS", "{here}:lease:file:/a"}), "0") << "granted, but not remembered";
  EXPECT_EQ(word_for(client->acquire({"bob", "s2"}, "/a")), "granted") << "other sessions go on";
}

TEST_F(RedisSessions, ThatBreakLaterAreNotGrantedEitherAndKeepNobodyFromGivingBack) {
  use(std::nullopt);
  ASSERT_EQ(ask("/a"), "granted");
  call({"DEL", "{here}:session:locks:s1"});
  call({"SET", "{here}:session:locks:s1", "of another type"});

  EXPECT_EQ(ask("/b"), "unavailable");
  EXPECT_EQ(call({"EXISTS", "{here}:lease:file:/b"}), "0") << "granted, but not remembered";

  const auto released = client->release({"ann", "s1"}, "/a");
  ASSERT_TRUE(released);
  EXPECT_FALSE(released->outcomes.at(0).error);
  EXPECT_TRUE(client->manager->release({.caller = {{.owner = {"ann", "s1"}}}, .which = {.all = true}}));
  EXPECT_EQ(word_for(client->acquire({"bob", "s2"}, "/a")), "granted");
  const auto paths = client->manager->session_paths("s1");
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->invalid.size(), 1U);
}

TEST_F(RedisSessions, TakeTwoRoundTripsLikeEverybody) {
  use(std::nullopt);
  ASSERT_EQ(ask("/a"), "granted");
  const auto scripts = [&] {
    const std::string stats = call({"INFO", "commandstats"});
    const std::size_t at = stats.find("cmdstat_evalsha:calls=");
    return std::stoi(stats.substr(at + 22));
  };
  const int before = scripts();

  ASSERT_EQ(ask("/b"), "granted");

  EXPECT_EQ(scripts() - before, 1) << "one script reads everything";
}

}  // namespace
}  // namespace leasehold
