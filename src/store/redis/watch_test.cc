// What others do between the reading and the writing of one request.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/proxy.h"
#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

Owner carol() { return {"carol", "session-c"}; }

struct RedisWatch : testing::Test {
  // What `call` answers if `meanwhile` happens once it has read and decided, before the server gets its EXEC.
  std::string answer_if(const std::function<void()>& meanwhile,
                        const std::function<std::string(RedisClient&)>& call) {
    Proxy proxy(server.socket());
    RedisClient slow(proxy.url());
    bool happened = false;
    proxy.judge_by([&](bool to_server, std::string_view bytes) {
      if (to_server && !happened && bytes.find("\r\nEXEC\r\n") != std::string_view::npos) {
        happened = true;
        meanwhile();
      }
      return Proxy::Fate::forward;
    });
    std::string answer = call(slow);
    EXPECT_TRUE(happened) << "it wrote nothing";
    return answer;
  }

  static std::string acquire(RedisClient& client, const Owner& owner, const std::string& path,
                             Mode mode = Mode::exclusive, bool subtree = false,
                             std::optional<Duration> wait = std::nullopt) {
    AcquireRequest request = RedisClient::request(owner, path);
    request.mode = mode;
    request.paths[0].subtree = subtree;
    request.wait = wait;
    return word_for(client.manager->acquire(request));
  }

  RedisServer server;
  RedisClient other{server.url()};
};

TEST_F(RedisWatch, SomebodyTakesTheFile) {
  EXPECT_EQ(answer_if([&] { other.must_acquire(bob(), "/d/a"); },
                      [](RedisClient& slow) { return acquire(slow, ann(), "/d/a"); }),
            "busy");
}

TEST_F(RedisWatch, SomebodyTakesADirectoryAbove) {
  for (const char* dir : {"/", "/d", "/d/e"}) {
    EXPECT_EQ(answer_if([&] { EXPECT_EQ(acquire(other, bob(), dir, Mode::exclusive, true), "granted"); },
                        [](RedisClient& slow) { return acquire(slow, ann(), "/d/e/a"); }),
              "busy")
        << dir;
    EXPECT_TRUE(other.release(bob(), dir));
  }
}

TEST_F(RedisWatch, SomebodyTakesADirectoryAboveWhileAnotherIsHeld) {
  ASSERT_EQ(acquire(other, carol(), "/elsewhere", Mode::exclusive, true), "granted");
  EXPECT_EQ(answer_if([&] { EXPECT_EQ(acquire(other, bob(), "/d", Mode::exclusive, true), "granted"); },
                      [](RedisClient& slow) {
                        // Looks at what is above at once, from now on.
                        EXPECT_EQ(acquire(slow, ann(), "/elsewhere/a"), "busy");
                        return acquire(slow, ann(), "/d/a");
                      }),
            "busy");
}

TEST_F(RedisWatch, SomebodyTakesAFileBelow) {
  EXPECT_EQ(answer_if([&] { other.must_acquire(bob(), "/d/a"); },
                      [](RedisClient& slow) { return acquire(slow, ann(), "/d", Mode::exclusive, true); }),
            "busy");
}

TEST_F(RedisWatch, AWriterQueues) {
  ASSERT_EQ(acquire(other, carol(), "/d/a", Mode::shared), "granted");
  EXPECT_EQ(
      answer_if([&] { EXPECT_EQ(acquire(other, bob(), "/d/a", Mode::exclusive, false, 1min), "queued"); },
                [](RedisClient& slow) { return acquire(slow, ann(), "/d/a", Mode::shared); }),
      "busy");
}

TEST_F(RedisWatch, SomebodyQueuesForADirectoryAbove) {
  other.must_acquire(carol(), "/d/held");
  EXPECT_EQ(answer_if([&] { EXPECT_EQ(acquire(other, bob(), "/d", Mode::exclusive, true, 1min), "queued"); },
                      [](RedisClient& slow) { return acquire(slow, ann(), "/d/a"); }),
            "busy");
}

TEST_F(RedisWatch, SomebodyQueuesForADirectoryThatIsGivenBack) {
  ASSERT_EQ(acquire(other, ann(), "/d/a"), "granted");
  answer_if([&] { EXPECT_EQ(acquire(other, bob(), "/d", Mode::exclusive, true, 1min), "queued"); },
            [](RedisClient& slow) {
              EXPECT_TRUE(slow.release(ann(), "/d/a"));
              return std::string();
            });
  EXPECT_EQ(other.waiting(), 0U) << "it was not handed on";
}

TEST_F(RedisWatch, TheOwnerTakesItsLastElsewhere) {
  Policy policy;
  policy.leases_per_owner_max = 1;
  EXPECT_EQ(answer_if([&] { other.must_acquire(ann(), "/b"); },
                      [&](RedisClient& slow) {
                        slow.use_policy(policy);
                        return acquire(slow, ann(), "/a");
                      }),
            "limit_exceeded");
}

// Redis dropped the document of a lease, and two find out that it is over: one records it, the other shares
// the path.
TEST_F(RedisWatch, SomebodyRecordsTheEndOfWhatStandsBesideIt) {
  AcquireRequest request = RedisClient::request(carol(), "/d/a", 20ms);
  request.mode = Mode::shared;
  ASSERT_EQ(word_for(other.manager->acquire(request)), "granted");
  const std::string document = std::string("{") + kWorkspace + "}:lease:file:/d/a";
  ASSERT_TRUE(eventually([&] { return server.call({"EXISTS", document}) == "0"; }));

  EXPECT_EQ(answer_if([&] { EXPECT_TRUE(other.manager->sweep(true)); },
                      [](RedisClient& slow) { return acquire(slow, ann(), "/d/a", Mode::shared); }),
            "granted");

  EXPECT_EQ(acquire(other, bob(), "/d/a"), "busy");
  const std::vector<Event> events = other.history();
  EXPECT_EQ(std::ranges::count(events, EventType::expired, &Event::type), 1) << "it ended again";
}

// A store that was written before directories had an index of their own.
TEST_F(RedisWatch, ADirectoryThatIsInNoIndexCounts) {
  ASSERT_EQ(acquire(other, bob(), "/d", Mode::exclusive, true), "granted");
  const std::string prefix = std::string("{") + kWorkspace + "}:lease:";
  ASSERT_EQ(server.call({"DEL", prefix + "dirs", prefix + "format"}), "2");

  RedisClient client(server.url());
  EXPECT_EQ(acquire(client, ann(), "/d/a"), "busy");
  EXPECT_EQ(acquire(client, ann(), "/e"), "granted");
  EXPECT_EQ(acquire(client, ann(), "/d/e/a"), "busy");
  EXPECT_EQ(server.call({"EXISTS", prefix + "format"}), "0") << "an index that is not complete is relied on";
}

// Somebody had a path between the draw of a token and the look at that path, or at the directory it is in.
TEST_F(RedisWatch, ATokenIsNewerThanAllThatWasGrantedBeforeItsPathsWereRead) {
  for (const Scope& looked_at : {Scope{"/d/b"}, Scope{"/d", true}}) {
    std::uint64_t before = 0;
    std::uint64_t drawn = 0;
    const auto done = other.store->transact({.workspace = kWorkspace, .scopes = {{"/d"}}},
                                            [&](Transaction& transaction) -> Result<void> {
                                              RedisClient client(server.url());
                                              before = client.must_acquire(bob(), "/d/b").token.value;
                                              EXPECT_TRUE(client.release(bob(), "/d/b"));
                                              EXPECT_TRUE(transaction.leases_at(looked_at).empty());
                                              drawn = transaction.next_token().value;
                                              return {};
                                            });
    EXPECT_TRUE(done);
    EXPECT_GT(drawn, before) << looked_at.path;
  }
}

}  // namespace
}  // namespace leasehold
