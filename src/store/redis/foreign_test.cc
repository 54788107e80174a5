// Somebody else's hands in our keys: what they touched is corrupt, and only that.
#include <gtest/gtest.h>

#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

struct RedisForeign : testing::Test {
  std::string call(std::vector<std::string> words) { return database.call(words); }

  RedisDatabase database;
  RedisClient client{database.url()};
};

TEST_F(RedisForeign, GarbageUnderAPathIsCorruptForThatPath) {
  for (const char* garbage : {"", "garbage", "{}", R"({"leases":[{"id":"1"}]})", R"({"leases":7})"}) {
    call({"SET", "{here}:lease:file:/a", garbage});

    EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "corrupt") << garbage;
    EXPECT_EQ(word_for(client.acquire(ann(), "/b")), "granted") << garbage;
    EXPECT_EQ(call({"GET", "{here}:lease:file:/a"}), garbage) << "it was overwritten";
  }
}

TEST_F(RedisForeign, AnotherTypeUnderAPathIsCorruptForThatPath) {
  call({"LPUSH", "{here}:lease:file:/a", "x"});
  call({"SET", "{here}:lease:queue:/c", "x"});

  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "corrupt");
  EXPECT_EQ(word_for(client.acquire(ann(), "/c")), "corrupt");
  EXPECT_EQ(word_for(client.acquire(ann(), "/b")), "granted");
}

TEST_F(RedisForeign, ASubtreeWithSomethingCorruptInItIsNotGranted) {
  client.must_acquire(bob(), "/dir/a");
  call({"SET", "{here}:lease:file:/dir/a", "garbage"});
  AcquireRequest request = RedisClient::request(ann(), "/dir");
  request.paths[0].subtree = true;

  EXPECT_EQ(word_for(client.manager->acquire(request)), "corrupt");
}

TEST_F(RedisForeign, AnIndexOfAnotherTypeIsCorruptAndNothingIsWritten) {
  for (const std::string& key : {"{here}:lease:agent:" + ann().agent_id, std::string("{here}:lease:history"),
                                 std::string("{here}:lease:times"), std::string("{here}:lease:paths")}) {
    call({"FLUSHDB"});
    call({"SET", key, "x"});
    RedisClient fresh(database.url());

    EXPECT_EQ(word_for(fresh.acquire(ann(), "/a")), "corrupt") << key;
    EXPECT_EQ(call({"EXISTS", "{here}:lease:file:/a"}), "0") << key;
    call({"DEL", key});
    EXPECT_EQ(word_for(fresh.acquire(ann(), "/a")), "granted") << key;
  }
}

TEST_F(RedisForeign, StaleMembersOfIndexesAreInNobodysWay) {
  const Lease held = client.must_acquire(ann(), "/a");
  call({"SADD", "{here}:lease:agent:" + ann().agent_id, "/gone"});
  call({"HSET", "{here}:lease:owner:" + ann().session_id + "/" + ann().agent_id, "no-such-lease", "/gone"});
  call({"ZADD", "{here}:lease:times", "1", "no-such-lease"});
  call({"ZADD", "{here}:lease:tickets", "1", "no-such-ticket"});
  call({"ZADD", "{here}:lease:paths", "0", "/gone"});
  call({"HSET", "{here}:lease:queue:/a", "no-such-ticket", "1"});

  const auto seen = client.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    EXPECT_EQ(view.leases({.agent_id = ann().agent_id}).size(), 1U);
    EXPECT_EQ(view.leases({.agent_id = ann().agent_id, .session_id = ann().session_id}).size(), 1U);
    EXPECT_EQ(view.leases({}).size(), 1U);
    EXPECT_EQ(view.leases_at({"/", true}).size(), 1U);
    EXPECT_TRUE(view.tickets({}).empty());
    return {};
  });
  EXPECT_TRUE(seen);
  EXPECT_TRUE(client.manager->sweep(true));
  EXPECT_EQ(call({"ZSCORE", "{here}:lease:times", "no-such-lease"}), "(nil)")
      << "the sweeper leaves it there";
  EXPECT_TRUE(client.release(ann(), "/a"));
}

TEST_F(RedisForeign, ACorruptLeaseStopsNeitherTheBoardNorTheSweeper) {
  const Lease bad = client.must_acquire(ann(), "/a", 50ms);
  const Lease good = client.must_acquire(ann(), "/b", 50ms);
  call({"SET", "{here}:lease:id:" + bad.id.text, "garbage"});
  ASSERT_TRUE(eventually([&] { return call({"EXISTS", "{here}:lease:file:/b"}) == "0"; }));

  ASSERT_TRUE(client.manager->sweep(true));

  std::size_t expired = 0;
  for (const Event& event : client.history())
    expired += event.lease_id == good.id && event.type == EventType::expired;
  EXPECT_EQ(expired, 1U);
  EXPECT_TRUE(client.manager->board({}));
}

}  // namespace
}  // namespace leasehold
