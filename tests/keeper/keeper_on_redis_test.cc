// A keeper whose leases are in Redis: the server goes away and comes back, in real time.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "leasehold/keeper.h"
#include "support/proxy.h"
#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

// Short enough to run out in a test, and long enough to survive a busy machine.
constexpr Duration kTtl = 3s;

class KeptOnRedis {
 public:
  explicit KeptOnRedis(const std::string& url) : client_(std::make_shared<RedisClient>(url)) {
    KeeperOptions options;
    options.on_event = [this](const KeeperEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    };
    auto started = Keeper::start(std::shared_ptr<Client>(client_, client_->manager.get()), {{.owner = ann()}},
                                 std::move(options));
    EXPECT_TRUE(started);
    keeper_ = *std::move(started);
  }

  Keeper& keeper() { return *keeper_; }

  Lease acquire(const std::string& path) {
    const auto answer = keeper_->acquire(RedisClient::request(ann(), path, kTtl));
    EXPECT_EQ(word_for(answer), "granted");
    return word_for(answer) == "granted" ? std::get<Granted>(answer->decision).leases.front() : Lease{};
  }

  std::vector<KeeperEvent> told(KeeperEventType type, const std::string& path = {}) {
    const std::lock_guard lock(mutex_);
    std::vector<KeeperEvent> found;
    std::ranges::copy_if(events_, std::back_inserter(found), [&](const KeeperEvent& event) {
      return event.type == type && (path.empty() || (event.lease && event.lease->path == path));
    });
    return found;
  }
  bool is_told(KeeperEventType type, const std::string& path = {}) {
    return eventually([&] { return !told(type, path).empty(); });
  }

 private:
  std::shared_ptr<RedisClient> client_;
  std::mutex mutex_;
  std::vector<KeeperEvent> events_;
  std::unique_ptr<Keeper> keeper_;  // Last: it tells until it is gone.
};

TEST(KeeperOnRedis, KeepsALeaseLongerThanItsTime) {
  const RedisServer server;
  KeptOnRedis kept(server.url());
  RedisClient other(server.url());
  const Lease lease = kept.acquire("/a");

  const auto end = std::chrono::steady_clock::now() + 2 * kTtl;
  while (std::chrono::steady_clock::now() < end) {
    // A machine that stood still for seconds may have lost it; then nobody is promised anything.
    const bool was_valid = kept.keeper().is_valid(lease.id);
    const std::string answer = word_for(other.acquire(bob(), "/a"));
    if (was_valid && kept.keeper().is_valid(lease.id)) {
      EXPECT_EQ(answer, "busy");
    }
    if (answer == "granted") break;
    std::this_thread::sleep_for(50ms);
  }

  EXPECT_TRUE(kept.is_told(KeeperEventType::renewed));
}

TEST(KeeperOnRedis, GoesOnTryingWhileTheServerIsAwayAndGetsItsLeaseBack) {
  RedisServer server({"--appendfsync", "always"});
  KeptOnRedis kept(server.url());
  const Lease lease = kept.acquire("/a");

  server.kill_hard();
  ASSERT_TRUE(kept.is_told(KeeperEventType::missed));
  ASSERT_TRUE(kept.is_told(KeeperEventType::expired, "/a")) << "the local deadline is not honoured";
  EXPECT_FALSE(kept.keeper().is_valid(lease.id));
  EXPECT_EQ(kept.keeper().use("/a").error().code, Code::lost);
  server.start();

  ASSERT_TRUE(kept.is_told(KeeperEventType::recovered, "/a"));
  EXPECT_TRUE(eventually([&] { return kept.keeper().use("/a").has_value(); }));
  const KeeperEvent back = kept.told(KeeperEventType::recovered, "/a").front();
  EXPECT_EQ(back.previous, lease.id);
  // Another lease has another token, and a greater one.
  EXPECT_TRUE(back.lease->id == lease.id || back.lease->token > lease.token);
}

TEST(KeeperOnRedis, SurvivesAServerThatLostEverything) {
  RedisServer server;
  KeptOnRedis kept(server.url());
  const Lease lease = kept.acquire("/a");

  server.call({"FLUSHALL"});

  ASSERT_TRUE(kept.is_told(KeeperEventType::recovered, "/a"));
  const KeeperEvent back = kept.told(KeeperEventType::recovered, "/a").front();
  EXPECT_GT(back.lease->token, lease.token);
  EXPECT_FALSE(kept.keeper().is_valid(lease.id));
}

TEST(KeeperOnRedis, ReportsWhatSomebodyElseTookMeanwhile) {
  const RedisServer server;
  Proxy proxy(server.socket());
  std::atomic<bool> is_cut = false;
  proxy.judge_by([&](bool, std::string_view) { return is_cut ? Proxy::Fate::cut : Proxy::Fate::forward; });
  KeptOnRedis kept(proxy.url());
  RedisClient other(server.url());
  const Lease a = kept.acquire("/a");
  const Lease b = kept.acquire("/b");

  is_cut = true;
  bool was_early = false;
  ASSERT_TRUE(eventually([&] {
    const std::string answer = word_for(other.acquire(bob(), "/b"));
    was_early |= answer == "granted" && kept.keeper().is_valid(b.id);
    return answer == "granted";
  }));
  EXPECT_FALSE(was_early) << "two believed to have it";
  is_cut = false;

  ASSERT_TRUE(kept.is_told(KeeperEventType::could_not_recover, "/b"));
  const auto blocked = kept.told(KeeperEventType::could_not_recover, "/b").front().blocked;
  ASSERT_EQ(blocked.size(), 1U);
  EXPECT_EQ(blocked[0].holder.owner, bob());
  EXPECT_TRUE(kept.is_told(KeeperEventType::recovered, "/a"));
  EXPECT_FALSE(kept.keeper().is_valid(b.id));
  EXPECT_EQ(kept.keeper().use("/b").error().code, Code::not_found);
}

}  // namespace
}  // namespace leasehold
