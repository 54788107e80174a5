// lease doctor --repair while others work, and when it is stopped in between: it gives nothing to anybody.
#include <gtest/gtest.h>

#include <atomic>

#include "support/proxy.h"
#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

using Fate = Proxy::Fate;

// The one who repairs is behind the proxy.
struct RedisRepairMeanwhile : testing::Test {
  std::string call(std::vector<std::string> words) { return server.call(words); }

  std::string ask_for_directory(const std::string& path, const Owner& owner) {
    AcquireRequest request = RedisClient::request(owner, path);
    request.paths[0].subtree = true;
    return word_for(others.manager->acquire(request));
  }

  // Whom a lost index could deceive: one asks below a directory that is held, one for one above all files.
  void expect_nothing_for_carol() {
    EXPECT_NE(word_for(others.acquire(carol, "/src/x")), "granted");
    EXPECT_NE(ask_for_directory("/", carol), "granted");
  }

  void hold_and_break(const std::string& index) {
    call({"FLUSHALL"});
    ASSERT_EQ(ask_for_directory("/src", ann()), "granted");
    others.must_acquire(bob(), "/b");
    call({"DEL", index});
    call({"SET", index, "of another type"});
  }

  const Owner carol = {"carol", "session-c"};
  RedisServer server;
  Proxy proxy{server.socket()};
  RedisClient others{server.url()};
  RedisClient doctor{proxy.url(), {.connect_timeout = 5s, .command_timeout = 5s}};
};

TEST_F(RedisRepairMeanwhile, NobodySeesAPartOfIt) {
  for (const char* index : {"{here}:lease:dirs", "{here}:lease:paths"}) {
    hold_and_break(index);
    std::atomic<int> messages = 0;
    proxy.judge_by([&](bool, std::string_view) {
      ++messages;
      expect_nothing_for_carol();
      return Fate::forward;
    });

    ASSERT_TRUE(doctor.store->examine(kWorkspace, true)) << index;

    EXPECT_GT(messages, 4) << index;
    proxy.judge_by([](bool, std::string_view) { return Fate::forward; });
    expect_nothing_for_carol();
    EXPECT_TRUE(others.store->examine(kWorkspace, false)->empty()) << index;
  }
}

TEST_F(RedisRepairMeanwhile, WhereverItIsStoppedNothingIsGivenAway) {
  for (const char* index : {"{here}:lease:dirs", "{here}:lease:paths"}) {
    bool done = false;
    for (int last = 0; !done && last < 100; ++last) {
      hold_and_break(index);
      RedisClient stopped(proxy.url());
      std::atomic<int> messages = 0;
      proxy.judge_by([&](bool, std::string_view) { return messages++ < last ? Fate::forward : Fate::cut; });
      done = stopped.store->examine(kWorkspace, true).has_value();
      proxy.judge_by([](bool, std::string_view) { return Fate::forward; });
      expect_nothing_for_carol();
    }
    EXPECT_TRUE(done) << index;
  }
}

TEST_F(RedisRepairMeanwhile, WhatOthersDidMeanwhileIsLookedAtAgain) {
  hold_and_break("{here}:lease:agent:" + ann().agent_id);
  std::atomic<int> repairs = 0;
  proxy.judge_by([&](bool to_server, std::string_view bytes) {
    const bool repairs_now = to_server && bytes.find("MULTI\r\n") != std::string_view::npos;
    if (repairs_now && ++repairs == 1) {
      EXPECT_TRUE(others.release(bob(), "/b"));
      others.must_acquire(carol, "/b");
    }
    return Fate::forward;
  });

  const auto defects = doctor.store->examine(kWorkspace, true);

  ASSERT_TRUE(defects);
  ASSERT_EQ(defects->size(), 1U);
  EXPECT_TRUE(defects->front().repaired);
  EXPECT_EQ(repairs, 2);
  EXPECT_TRUE(others.store->examine(kWorkspace, false)->empty());
  EXPECT_EQ(word_for(others.acquire(bob(), "/b")), "busy");
}

TEST_F(RedisRepairMeanwhile, AHealthyStoreIsNotBlamedForWhatOthersJustChange) {
  others.must_acquire(ann(), "/a");
  proxy.judge_by([&](bool, std::string_view) {
    EXPECT_TRUE(others.release(ann(), "/a"));
    others.must_acquire(ann(), "/a");
    return Fate::forward;
  });

  const auto defects = doctor.store->examine(kWorkspace, false);

  ASSERT_TRUE(defects);
  for (const Defect& defect : *defects) ADD_FAILURE() << defect.where << ": " << defect.what;
}

}  // namespace
}  // namespace leasehold
