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

// The first call found all of them to be as they should be.
TEST_F(RedisForeign, AnotherTypeThatComesLaterIsToldAndNotTakenForSuccess) {
  for (const std::string& key : {std::string("{here}:lease:history"), std::string("{here}:lease:times"),
                                 "{here}:lease:agent:" + ann().agent_id}) {
    client.must_acquire(ann(), "/a");
    ASSERT_TRUE(client.release(ann(), "/a"));
    call({"DEL", key});
    call({"SET", key, "x"});

    EXPECT_EQ(word_for(client.acquire(ann(), "/b")), "corrupt") << key;
    EXPECT_EQ(word_for(client.acquire(ann(), "/c")), "corrupt") << key;
    EXPECT_EQ(call({"EXISTS", "{here}:lease:file:/c"}), "0") << "it was not looked at again: " << key;
    call({"FLUSHDB"});
  }
}

TEST_F(RedisForeign, ADocumentThatSaysLessThanTheTruthGrantsNothing) {
  const Lease held = client.must_acquire(ann(), "/a");
  client.must_acquire(bob(), "/b");
  call({"SET", "{here}:lease:file:/a", R"({"leases":[]})"});
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "corrupt");

  call({"COPY", "{here}:lease:file:/b", "{here}:lease:file:/a", "REPLACE"});
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "corrupt") << "the document of another path";

  const auto defects = client.store->examine(kWorkspace, true);
  ASSERT_TRUE(defects);
  EXPECT_FALSE(defects->empty());
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "busy") << "ann's lease is back";
  EXPECT_TRUE(client.store->examine(kWorkspace, false)->empty());
}

TEST_F(RedisForeign, ATokenThatIsNoneStopsEverybodyUntilItIsRepaired) {
  for (const char* bad :
       {"inf", "nan", "-5", "9007199254740991", "9007199254740992", "9e18", "garbage", ""}) {
    const Lease before = client.must_acquire(ann(), "/a");
    ASSERT_TRUE(client.release(ann(), "/a"));
    call({"SET", "lease:token", bad});

    EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "corrupt") << bad;
    EXPECT_EQ(call({"GET", "lease:token"}), bad) << "it was overwritten";
    const auto found = client.store->examine(kWorkspace, true);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 1U) << bad;
    EXPECT_TRUE(found->front().repaired);
    EXPECT_GT(client.must_acquire(ann(), "/a").token, before.token) << bad;
    ASSERT_TRUE(client.release(ann(), "/a"));
  }
}

TEST_F(RedisForeign, AnIntentThatNeverEndsIsInNobodysWay) {
  call({"SET", "{here}:lease:intent", "1 /"});
  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
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

TEST_F(RedisForeign, ATicketThatCannotBeReadIsInTheWayInEachOfItsQueues) {
  client.must_acquire(ann(), "/a");
  AcquireRequest request = RedisClient::request(bob(), "/a");
  request.paths.push_back({.path = "/b"});
  request.wait = 1min;
  const auto queued = client.manager->acquire(request);
  ASSERT_EQ(word_for(queued), "queued");
  call({"SET", "{here}:lease:ticket:" + std::get<Queued>(queued->decision).ticket.text, "garbage"});

  // Together, so that one answer names it twice.
  for (const char* path : {"/a", "/b"}) {
    const auto seen = client.store->view({.workspace = kWorkspace, .scopes = {{"/a"}, {"/b"}}},
                                         [&](View& view) -> Result<void> {
                                           (void)view.tickets_at({path});
                                           return {};
                                         });
    ASSERT_FALSE(seen) << path;
    EXPECT_EQ(seen.error().code, Code::corrupt) << path;
  }
  EXPECT_EQ(word_for(client.acquire(ann(), "/c")), "granted");
}

TEST_F(RedisForeign, WhatIsNoNameOfWhatIsToBeDroppedIsInNobodysWay) {
  for (const char* member : {"", "n", "g", "a", "x", "ns", "gs", "as", "ns/a", "xs/a/b", "\xff"})
    call({"ZADD", "{here}:lease:drop", "5", member});

  EXPECT_TRUE(client.manager->cleanup());

  EXPECT_EQ(call({"ZCARD", "{here}:lease:drop"}), "0");
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
