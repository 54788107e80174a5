// lease doctor --repair on Redis: what somebody else's hands did is found, removed, and nothing is lost that
// could be kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "store/redis/keys.h"
#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

using redis::Keys;

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

  std::string ask_for_directory(const Owner& owner, const std::string& path, Duration wait = {}) {
    AcquireRequest request = RedisClient::request(owner, path);
    request.paths[0].subtree = true;
    if (wait > 0s) request.wait = wait;
    return word_for(client.manager->acquire(request));
  }

  // What stands in an index.
  std::string content(const std::string& key) {
    const std::string type = call({"TYPE", key});
    if (type == "zset") return call({"ZRANGE", key, "0", "-1", "WITHSCORES"});
    if (type == "list") return call({"LRANGE", key, "0", "-1"});
    std::istringstream members(call({type == "set" ? "SMEMBERS" : "HGETALL", key}));
    std::set<std::string> lines;
    for (std::string line; std::getline(members, line);) lines.insert(line);
    return testing::PrintToString(lines);
  }

  const Owner carol = {"carol", "session-c"};
  RedisDatabase database;
  RedisClient client{database.url()};
};

TEST_F(RedisRepair, TakesOutOfHistoryWhatIsNoEvent) {
  client.must_acquire(ann(), "/a");
  call({"XADD", "{here}:lease:history", "*", "event", "garbage"});
  call({"XADD", "{here}:lease:history", "*", "colour", "red"});
  client.must_acquire(ann(), "/b");

  expect_repaired({"lease:history"});
  EXPECT_EQ(client.history().size(), 2U);
  EXPECT_EQ(call({"XLEN", "{here}:lease:history"}), "2");
}

TEST_F(RedisRepair, NothingIsChangedWhereHistoryTakesNoMore) {
  client.must_acquire(ann(), "/a");
  call({"XADD", "{here}:lease:history", "18446744073709551615-18446744073709551615", "event", "garbage"});

  RedisClient other(database.url());
  EXPECT_EQ(word_for(other.acquire(bob(), "/b")), "corrupt");
  EXPECT_EQ(call({"EXISTS", "{here}:lease:file:/b"}), "0");
  // One that knew the key already learns it from what it could make in part only.
  EXPECT_EQ(word_for(client.acquire(bob(), "/b")), "corrupt");
  EXPECT_EQ(word_for(client.acquire(bob(), "/c")), "corrupt");
  EXPECT_EQ(call({"EXISTS", "{here}:lease:file:/c"}), "0");

  EXPECT_EQ(places(true), std::vector<std::string>{"{here}:lease:history"});
  EXPECT_EQ(places(false), std::vector<std::string>{});
  EXPECT_EQ(word_for(client.acquire(carol, "/c")), "granted");
}

TEST_F(RedisRepair, RemovesMembersOfIndexesThatLeadNowhere) {
  client.must_acquire(ann(), "/a");
  const std::string owner = "lease:owner:" + ann().session_id + "/" + ann().agent_id;
  call({"SADD", "{here}:lease:agent:" + ann().agent_id, "/gone"});
  call({"SADD", "{here}:lease:pr:42", "/gone"});
  call({"SADD", "{here}:lease:session:s-gone", "nobody"});
  call({"HSET", "{here}:" + owner, "no-such-lease", "/gone"});
  call({"RPUSH", "{here}:lease:last:s/a/b", "no-such-lease"});
  call({"ZADD", "{here}:lease:times", "1", "no-such-lease"});
  call({"ZADD", "{here}:lease:tickets", "1", "no-such-ticket"});
  call({"ZADD", "{here}:lease:paths", "0", "/gone"});
  call({"ZADD", "{here}:lease:paths", "0", Keys::held("/b", "no-such-lease")});
  call({"ZADD", "{here}:lease:waiting", "0", "/gone"});
  call({"HSET", "{here}:lease:queue:/a", "no-such-ticket", "1"});
  call({"HSET", "{here}:lease:dirs", "id:no-such-lease", "/gone"});

  expect_repaired({"lease:agent:" + ann().agent_id, "lease:pr:42", "lease:session:s-gone", owner,
                   "lease:last:s/a/b", "lease:times", "lease:tickets", "lease:paths", "lease:waiting",
                   "lease:queue:/a", "lease:dirs"});

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

  expect_repaired({"lease:dirs"});

  EXPECT_EQ(call({"HLEN", "{here}:lease:dirs"}), "2");
  EXPECT_EQ(word_for(client.acquire(carol, "/held/b")), "busy");
  EXPECT_EQ(word_for(client.acquire(carol, "/wanted/b")), "busy");
}

TEST_F(RedisRepair, PutsBackWhatOtherKeysStillKnow) {
  const Lease without_document = client.must_acquire(ann(), "/a");
  const Lease without_record = client.must_acquire(ann(), "/b");
  const Lease without_index = client.must_acquire(ann(), "/c");
  call({"SET", "{here}:lease:file:/a", "garbage"});
  call({"SET", "{here}:lease:id:" + without_record.id.text, "garbage"});
  call({"DEL", "{here}:lease:agent:" + ann().agent_id});
  call({"SET", "{here}:lease:agent:" + ann().agent_id, "of another type"});

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

// A lease stands in two places, and each of them is enough.
TEST_F(RedisRepair, PutsBackALeaseWhoseRecordIsGone) {
  for (const bool of_another_type : {false, true}) {
    for (const bool directory : {false, true}) {
      call({"FLUSHDB"});
      if (directory) {
        ASSERT_EQ(ask_for_directory(ann(), "/src"), "granted");
      } else {
        client.must_acquire(ann(), "/src");
      }
      const std::string id = call({"HKEYS", "{here}:lease:owner:" + Keys::owner_text(ann())});
      const std::string record = call({"GET", "{here}:lease:id:" + id});
      ASSERT_EQ(call({"DEL", "{here}:lease:id:" + id}), "1");
      if (of_another_type) call({"SADD", "{here}:lease:id:" + id, "x"});

      expect_repaired({"lease:id:" + id});

      EXPECT_EQ(call({"GET", "{here}:lease:id:" + id}), record);
      EXPECT_EQ(ask_for_directory(bob(), "/"), "busy");
      EXPECT_EQ(word_for(client.acquire(bob(), "/src")), "busy");
      EXPECT_EQ(word_for(client.acquire(bob(), "/src/x")), directory ? "busy" : "granted");
      const auto released = client.manager->release({.caller = {{.owner = ann()}}, .which = {.all = true}});
      ASSERT_TRUE(released);
      EXPECT_EQ(released->outcomes.size(), 1U);
    }
  }
}

TEST_F(RedisRepair, WritesEveryIndexAgain) {
  AcquireRequest request = RedisClient::request(ann(), "/a");
  request.caller.holder.pr_id = "7";
  request.idempotency_key = "k";
  ASSERT_EQ(word_for(client.manager->acquire(request)), "granted");
  ASSERT_EQ(ask_for_directory(ann(), "/src"), "granted");
  client.must_acquire(ann(), "/b");
  ASSERT_TRUE(client.release(ann(), "/b"));
  client.must_acquire(ann(), "/b");
  ASSERT_EQ(ask_for_directory(bob(), "/src", 1min), "queued");
  client.must_acquire({"dan", ""}, "/d");
  std::set<std::string> kinds;
  std::istringstream keys(call({"KEYS", "{here}:lease:*"}));
  for (std::string key; keys >> key;) {
    const std::string type = call({"TYPE", key});
    if (type == "string" || type == "stream") continue;
    const std::string name = key.substr(std::string("{here}:").size());
    kinds.insert(name.substr(0, name.find(':', 6)));
    const std::string before = content(key);
    for (const bool of_another_type : {false, true}) {
      call({"DEL", key});
      if (of_another_type) call({type == "set" ? "LPUSH" : "SADD", key, "x"});
      expect_repaired({name});
      EXPECT_EQ(content(key), before) << key;
    }
  }
  EXPECT_EQ(kinds,
            (std::set<std::string>{"lease:agent", "lease:dirs", "lease:drop", "lease:last", "lease:owner",
                                   "lease:paths", "lease:pr", "lease:queue", "lease:session", "lease:tickets",
                                   "lease:times", "lease:waiting", "lease:waits"}));
}

TEST_F(RedisRepair, MendsWhatStandsInAnIndexWrongly) {
  const Lease held = client.must_acquire(ann(), "/src/x");
  call({"ZADD", "{here}:lease:paths", "5", "/aaa"});
  call({"ZADD", "{here}:lease:paths", "5", Keys::held("/src/x", held.id.text)});

  expect_repaired({"lease:paths"});

  EXPECT_EQ(ask_for_directory(bob(), "/src"), "busy");
}

// Redis finds names in a range only where all scores are equal.
TEST_F(RedisRepair, FindsWhatIsHeldBesideAMemberWithAnotherScore) {
  for (const char* score : {"5", "-5"}) {
    for (const char* stale : {"/aaa", "/zzz", "zzz"}) {
      call({"FLUSHDB"});
      client.must_acquire(ann(), "/src/a");
      const Lease ran_out = client.must_acquire(ann(), "/src/b");
      call({"DEL", "{here}:lease:file:/src/b"});
      call({"ZADD", "{here}:lease:paths", score, stale});

      EXPECT_EQ(word_for(client.acquire(bob(), "/src/b")), "busy") << score << stale;
      EXPECT_EQ(word_for(client.acquire(bob(), "/src/c")), "granted") << score << stale;
      EXPECT_EQ(ask_for_directory(carol, "/src"), "busy") << score << stale;
      EXPECT_FALSE(places(true).empty());
      EXPECT_EQ(ask_for_directory(carol, "/src"), "busy") << score << stale;
    }
  }
}

TEST_F(RedisRepair, NamesAnIndexOfPathsOfAnotherType) {
  client.must_acquire(ann(), "/a");
  call({"DEL", "{here}:lease:paths"});
  call({"SET", "{here}:lease:paths", "x"});

  for (int i = 0; i < 2; ++i) {
    const auto refused = client.acquire(bob(), "/b");
    ASSERT_EQ(word_for(refused), "corrupt");
    EXPECT_NE(refused.error().message.find("{here}:lease:paths"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "busy") << "it needs nothing of the index";
  expect_repaired({"lease:paths"});
  EXPECT_EQ(word_for(client.acquire(bob(), "/b")), "granted");
}

TEST_F(RedisRepair, BringsAnOlderFormatUpToDate) {
  const Lease held = client.must_acquire(ann(), "/a");
  call({"SET", "{here}:lease:format", "1"});
  call({"ZREM", "{here}:lease:paths", Keys::held("/a", held.id.text)});
  call({"ZADD", "{here}:lease:paths", "0", "/a"});
  call({"SADD", "{here}:lease:at:/a", held.id.text});
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "busy");

  expect_repaired({"lease:at:/a", "lease:paths"});

  EXPECT_EQ(call({"GET", "{here}:lease:format"}), "2");
  EXPECT_EQ(ask_for_directory(bob(), "/"), "busy");
}

TEST_F(RedisRepair, RemovesWhatStandsInThePlaceOfAnother) {
  const Lease lease = client.must_acquire(ann(), "/a");
  AcquireRequest request = RedisClient::request(bob(), "/a");
  request.wait = 1min;
  const auto queued = client.manager->acquire(request);
  ASSERT_EQ(word_for(queued), "queued");
  call({"COPY", "{here}:lease:ticket:" + std::get<Queued>(queued->decision).ticket.text,
        "{here}:lease:ticket:other"});
  call({"HSET", "{here}:lease:queue:/c", "other", "1"});
  call({"COPY", "{here}:lease:id:" + lease.id.text, "{here}:lease:id:other"});
  call({"HSET", "{here}:session:locks:s", "/c", R"({"path":"/other"})", "c", R"({"path":"c"})"});
  ASSERT_EQ(word_for(client.acquire(carol, "/c")), "corrupt");

  expect_repaired({"lease:ticket:other", "lease:queue:/c", "lease:id:other", "session:locks:s"});

  EXPECT_EQ(word_for(client.acquire(carol, "/c")), "granted");
  EXPECT_EQ(word_for(client.acquire(carol, "/a")), "busy");
}

TEST_F(RedisRepair, FollowsTheLaterOfTwoCopiesThatDiffer) {
  const Lease lease = client.must_acquire(ann(), "/a");
  const std::string document = call({"GET", "{here}:lease:file:/a"});
  ASSERT_TRUE(client.release(ann(), "/a"));
  call({"SET", "{here}:lease:file:/a", document});
  ASSERT_EQ(word_for(client.acquire(bob(), "/a")), "busy");

  expect_repaired({"lease:file:/a"});

  const Lease of_bob = client.must_acquire(bob(), "/a", 1min);
  const std::string before = call({"GET", "{here}:lease:id:" + of_bob.id.text});
  ASSERT_TRUE(client.manager->renew({.caller = {{.owner = bob()}}, .which = {.paths = {"/a"}}}));
  call({"SET", "{here}:lease:id:" + of_bob.id.text, before});

  expect_repaired({"lease:id:" + of_bob.id.text});

  EXPECT_NE(call({"GET", "{here}:lease:id:" + of_bob.id.text}), before);
  EXPECT_EQ(word_for(client.acquire(carol, "/a")), "busy");
}

TEST_F(RedisRepair, EndsInHistoryWhatNothingIsLeftOf) {
  const Lease lost = client.must_acquire(ann(), "/a");
  client.must_acquire(bob(), "/b");
  client.must_acquire(carol, "/c");
  ASSERT_TRUE(client.release(carol, "/c"));
  const std::size_t before = client.history().size();
  call({"DEL", "{here}:lease:file:/a"});
  call({"SET", "{here}:lease:id:" + lost.id.text, "garbage"});

  EXPECT_FALSE(places(true).empty());

  const std::vector<Event> events = client.history();
  ASSERT_EQ(events.size(), before + 1);
  EXPECT_EQ(events.back().lease_id, lost.id);
  EXPECT_EQ(events.back().type, EventType::expired);
  EXPECT_EQ(events.back().status_after, Status::expired);
  EXPECT_EQ(events.back().owner, ann());
  EXPECT_EQ(places(true), std::vector<std::string>{}) << "once";
}

TEST_F(RedisRepair, RemovesAnIntentThatDoesNotEndSoon) {
  call({"SET", "{here}:lease:intent", "1 /", "PX", "600000"});

  expect_repaired({"lease:intent"});

  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
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
