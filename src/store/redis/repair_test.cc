// lease doctor --repair on Redis: what somebody else's hands did is found, removed, and nothing is lost that
// could be kept.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

struct RedisRepair : testing::Test {
  std::string call(std::vector<std::string> words) { return database.call(words); }

  // Where something is wrong, once each.
  std::vector<std::string> places(bool repair) {
    std::vector<std::string> found;
    const auto defects = client.store->examine(kWorkspace, repair);
    EXPECT_TRUE(defects);
    if (!defects) return found;
    for (const Defect& defect : *defects) {
      EXPECT_EQ(defect.repaired, repair) << defect.where << ": " << defect.what;
      found.push_back(defect.where);
    }
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    return found;
  }

  // Finds exactly this, repairs it, and then finds nothing.
  void expect_repaired(std::vector<std::string> keys) {
    for (std::string& key : keys) key.insert(0, "{here}:");
    std::ranges::sort(keys);
    EXPECT_EQ(places(false), keys);
    EXPECT_EQ(places(true), keys);
    EXPECT_EQ(places(false), std::vector<std::string>{});
  }

  RedisDatabase database;
  RedisClient client{database.url()};
};

TEST_F(RedisRepair, RemovesMembersOfIndexesThatLeadNowhere) {
  client.must_acquire(ann(), "/a");
  const std::string owner = "lease:owner:" + ann().session_id + "/" + ann().agent_id;
  call({"SADD", "{here}:lease:agent:" + ann().agent_id, "/gone"});
  call({"SADD", "{here}:lease:pr:42", "/gone"});
  call({"SADD", "{here}:lease:session:s-gone", "nobody"});
  call({"HSET", "{here}:" + owner, "no-such-lease", "/gone"});
  call({"SADD", "{here}:lease:at:/b", "no-such-lease"});
  call({"RPUSH", "{here}:lease:last:s/a/b", "no-such-lease"});
  call({"ZADD", "{here}:lease:times", "1", "no-such-lease"});
  call({"ZADD", "{here}:lease:tickets", "1", "no-such-ticket"});
  call({"ZADD", "{here}:lease:paths", "0", "/gone"});
  call({"ZADD", "{here}:lease:waiting", "0", "/gone"});
  call({"HSET", "{here}:lease:queue:/a", "no-such-ticket", "1"});
  call({"HSET", "{here}:lease:dirs", "id:no-such-lease", "/gone"});

  expect_repaired({"lease:agent:" + ann().agent_id, "lease:pr:42", "lease:session:s-gone", owner,
                   "lease:at:/b", "lease:last:s/a/b", "lease:times", "lease:tickets", "lease:paths",
                   "lease:waiting", "lease:queue:/a", "lease:dirs"});

  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "busy") << "what is held stays held";
}

TEST_F(RedisRepair, RemovesValuesThatCannotBeRead) {
  call({"SET", "{here}:lease:file:/a", "garbage"});
  call({"SET", "{here}:lease:id:x", "garbage"});
  call({"SET", "{here}:lease:ticket:x", "{}x"});
  call({"SET", "{here}:lease:answer:s/a/k", "[]"});
  call({"SET", "{here}:lease:rate:s", "7"});
  call({"HSET", "{here}:lease:notices:s/a", "1", "garbage"});
  call({"HSET", "{here}:lease:gate:s/a", "/a", "garbage"});
  call({"HSET", "{here}:lease:configs", "ttl", "garbage"});
  call({"HSET", "{here}:session:locks:s", "/a", "garbage"});
  ASSERT_EQ(word_for(client.acquire(ann(), "/a")), "corrupt");

  expect_repaired({"lease:file:/a", "lease:id:x", "lease:ticket:x", "lease:answer:s/a/k", "lease:rate:s",
                   "lease:notices:s/a", "lease:gate:s/a", "lease:configs", "session:locks:s"});

  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
}

TEST_F(RedisRepair, RemovesKeysOfAnotherType) {
  call({"LPUSH", "{here}:lease:file:/a", "x"});
  call({"SET", "{here}:lease:queue:/a", "x"});
  call({"SET", "{here}:lease:history", "x"});
  call({"SET", "{here}:lease:denied", "x"});
  call({"SET", "{here}:lease:drop", "x"});

  expect_repaired({"lease:file:/a", "lease:queue:/a", "lease:history", "lease:denied", "lease:drop"});

  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
}

TEST_F(RedisRepair, PutsDirectoriesBackIntoTheirIndex) {
  AcquireRequest held = RedisClient::request(ann(), "/held");
  held.paths[0].subtree = true;
  ASSERT_EQ(word_for(client.manager->acquire(held)), "granted");
  client.must_acquire(ann(), "/wanted/a");
  AcquireRequest wanted = RedisClient::request(bob(), "/wanted");
  wanted.paths[0].subtree = true;
  wanted.wait = 1min;
  ASSERT_EQ(word_for(client.manager->acquire(wanted)), "queued");
  ASSERT_EQ(call({"DEL", "{here}:lease:dirs"}), "1");

  EXPECT_EQ(places(true).size(), 2U);

  EXPECT_EQ(places(false), std::vector<std::string>{});
  EXPECT_EQ(call({"HLEN", "{here}:lease:dirs"}), "2");
  const Owner other = {"carol", "session-c"};
  EXPECT_EQ(word_for(client.acquire(other, "/held/b")), "busy");
  EXPECT_EQ(word_for(client.acquire(other, "/wanted/b")), "busy");
}

TEST_F(RedisRepair, PutsBackWhatOtherKeysStillKnow) {
  const Lease without_document = client.must_acquire(ann(), "/a");
  const Lease without_record = client.must_acquire(ann(), "/b");
  const Lease without_index = client.must_acquire(ann(), "/c");
  call({"SET", "{here}:lease:file:/a", "garbage"});
  call({"SET", "{here}:lease:id:" + without_record.id.text, "garbage"});
  call({"DEL", "{here}:lease:at:/c"});
  call({"SET", "{here}:lease:at:/c", "of another type"});

  EXPECT_FALSE(places(true).empty());

  EXPECT_EQ(places(false), std::vector<std::string>{});
  for (const char* path : {"/a", "/b", "/c"}) {
    EXPECT_EQ(word_for(client.acquire(bob(), path)), "busy") << path;
    EXPECT_EQ(call({"EXISTS", std::string("{here}:lease:file:") + path}), "1") << path;
    const auto released = client.release(ann(), path);
    ASSERT_TRUE(released) << path;
    EXPECT_FALSE(released->outcomes.at(0).error) << path;
    EXPECT_EQ(word_for(client.acquire(bob(), path)), "granted") << path;
  }
}

TEST_F(RedisRepair, PutsAWaiterBackIntoItsQueue) {
  client.must_acquire(ann(), "/a");
  AcquireRequest request = RedisClient::request(bob(), "/a");
  request.wait = 1min;
  const auto queued = client.manager->acquire(request);
  ASSERT_EQ(word_for(queued), "queued");
  call({"DEL", "{here}:lease:queue:/a"});
  call({"SET", "{here}:lease:queue:/a", "of another type"});

  EXPECT_FALSE(places(true).empty());
  EXPECT_EQ(places(false), std::vector<std::string>{});

  ASSERT_TRUE(client.release(ann(), "/a"));
  EXPECT_EQ(word_for(client.manager->poll(request.caller, std::get<Queued>(queued->decision).ticket)),
            "granted");
}

TEST_F(RedisRepair, LeavesOtherWorkspacesAndForeignKeysAlone) {
  call({"SET", "{there}:lease:file:/a", "garbage"});
  call({"SET", "unrelated", "x"});
  call({"SET", "{here}:lease:of-a-later-version", "x"});

  EXPECT_EQ(places(true), std::vector<std::string>{});

  EXPECT_EQ(call({"EXISTS", "{there}:lease:file:/a", "unrelated", "{here}:lease:of-a-later-version"}), "3");
}

}  // namespace
}  // namespace leasehold
