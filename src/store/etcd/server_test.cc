// What only shows with real members and in real time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "support/certificates.h"
#include "support/etcd_client.h"
#include "support/etcd_cluster.h"
#include "support/temp_folder.h"

// LeakSanitizer asks for it. A handshake of gRPC's that is under way when the process ends is never freed.
extern "C" const char* __lsan_default_suppressions() { return "leak:libcrypto.so"; }  // NOLINT

namespace leasehold {
namespace {

// The lease on a path, as a look at the store shows it, and whether that says it is over.
struct Seen {
  bool is_there = false;
  bool is_over = false;
};

Seen look_at(EtcdClient& client, const std::string& path) {
  Seen seen;
  const auto looked = client.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    const auto leases = view.leases_at({path, false});
    seen.is_there = !leases.empty();
    seen.is_over = seen.is_there && leases.front().expires_at <= view.now();
    return {};
  });
  EXPECT_TRUE(looked);
  return seen;
}

void put(EtcdClient& client, const Lease& lease) {
  EXPECT_TRUE(
      client.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
        transaction.put(lease);
        return {};
      }));
}

TEST(EtcdServer, ALeaseRunsOutInRealTimeAndTheNextOneGetsItWithAGreaterToken) {
  const std::string url = fresh_etcd_url();
  EtcdClient first(url);
  EtcdClient second(url);
  const auto start = std::chrono::steady_clock::now();
  const Lease held = first.must_acquire(ann(), "/a", 2s);

  EXPECT_EQ(word_for(second.acquire(bob(), "/a")), "busy");
  Result<AcquireAnswer> answer;
  ASSERT_TRUE(eventually([&] {
    answer = second.acquire(bob(), "/a");
    return word_for(answer) == "granted";
  }));

  EXPECT_GE(std::chrono::steady_clock::now() - start, 2s);
  EXPECT_GT(std::get<Granted>(answer->decision).leases.front().token, held.token);
}

TEST(EtcdServer, ARenewedLeaseGoesOn) {
  const std::string url = fresh_etcd_url();
  EtcdClient first(url);
  EtcdClient second(url);
  first.must_acquire(ann(), "/a", 3s);

  for (const auto end = std::chrono::steady_clock::now() + 9s; std::chrono::steady_clock::now() < end;) {
    EXPECT_TRUE(first.manager->renew({.caller = {{.owner = ann()}}, .which = {.all = true}, .ttl = 3s}));
    EXPECT_EQ(word_for(second.acquire(bob(), "/a")), "busy");
    std::this_thread::sleep_for(1s);
  }
}

// Clocks do not end leases: etcd does.
TEST(EtcdServer, ALeaseWhoseTimeIsOverByTheClockGoesOnUntilEtcdEndsIt) {
  EtcdClient client(fresh_etcd_url());
  Lease lease = make_lease(1, "/a");
  lease.expires_at = Time(std::chrono::hours(24));  // In January 1970.

  put(client, lease);

  EXPECT_TRUE(look_at(client, "/a").is_there);
  EXPECT_FALSE(look_at(client, "/a").is_over);
  EXPECT_TRUE(eventually([&] { return look_at(client, "/a").is_over; }));
}

// Whoever wrote it had a clock that was fast: etcd ends it long before that, so who asks again has to have
// more.
TEST(EtcdServer, ALeaseThatSaysItHasMoreThanItsTimeIsExtended) {
  EtcdClient client(fresh_etcd_url());
  Lease lease = client.must_acquire(ann(), "/a", 1min);
  lease.expires_at += 1h;
  put(client, lease);

  const Lease again = client.must_acquire(ann(), "/a", 1min);

  EXPECT_EQ(again.id, lease.id);
  EXPECT_LT(again.expires_at, lease.expires_at - 50min);
}

TEST(EtcdServer, ALeaseThatEtcdEndedIsOverWhateverTheClockSays) {
  EtcdCluster cluster;  // Of its own: what others left behind may end while it is looked through.
  EtcdClient client(cluster.url());
  client.must_acquire(ann(), "/a", 1h);

  // As if its time were over: all keys that are attached go with what they are attached to.
  const std::string leases = cluster.etcdctl("lease list");
  for (std::size_t at = leases.find('\n'); at != std::string::npos && at + 1 < leases.size();) {
    const std::size_t end = leases.find('\n', at + 1);
    cluster.etcdctl("lease revoke " + leases.substr(at + 1, end - at - 1));
    at = end;
  }

  EXPECT_TRUE(look_at(client, "/a").is_over);
  // And what was borrowed to attach keys to is replaced.
  EXPECT_EQ(client.must_acquire(bob(), "/a").holder.owner, bob());
  const auto events = client.history();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].type, EventType::expired);
}

// etcd looks through the names of what was deleted, until it is compacted.
TEST(EtcdServer, OneKeyServesAPathHoweverOftenItIsHeld) {
  const std::string url = fresh_etcd_url();
  EtcdClient client(url);
  const auto held = [&] {
    std::string keys = shared_etcd().etcdctl(
        fmt::format("get --prefix --keys-only {}/w/{}/at//a", url.substr(url.rfind('/') + 1), kWorkspace));
    std::erase(keys, '\0');
    return keys.substr(keys.rfind("/at/") + 4);
  };
  for (int i = 0; i < 3; ++i) {
    client.must_acquire(ann(), "/a");
    EXPECT_EQ(held(), "/al0+\n\n");
    ASSERT_TRUE(client.release(ann(), "/a"));
  }

  AcquireRequest request = EtcdClient::request(ann(), "/a");
  request.mode = Mode::shared;
  ASSERT_EQ(word_for(client.manager->acquire(request)), "granted");
  request.caller.holder.owner = bob();
  ASSERT_EQ(word_for(client.manager->acquire(request)), "granted");
  EXPECT_EQ(held(), "/al1+\n\n");
}

// As older versions left it, and as one puts it that does not know which names are free.
TEST(EtcdServer, ALeaseUnderItsOwnIdIsOneLikeOthers) {
  EtcdClient client(fresh_etcd_url());
  Lease lease = make_lease(1, "/a", ann());
  lease.expires_at = Time(std::chrono::system_clock::now().time_since_epoch() + 1h);
  put(client, lease);

  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "busy");
  EXPECT_TRUE(client.manager->renew({.caller = {{.owner = ann()}}, .which = {.all = true}, .ttl = 1h}));
  const auto released = client.manager->release({.caller = {{.owner = ann()}}, .which = {.all = true}});
  ASSERT_TRUE(released);
  EXPECT_EQ(released->outcomes.size(), 1u);
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "granted");
  EXPECT_TRUE(client.store->examine(kWorkspace, false)->empty());
}

TEST(EtcdServer, ManyPathsAreOneGrant) {
  EtcdClient client(fresh_etcd_url());
  AcquireRequest request = {.caller = {{.owner = ann()}}};
  for (int i = 0; i < 300; ++i)
    request.paths.push_back({.path = fmt::format("/dir{}/sub/file{}", i % 50, i)});

  const auto answer = client.manager->acquire(request);

  ASSERT_EQ(word_for(answer), "granted");
  EXPECT_EQ(std::get<Granted>(answer->decision).leases.size(), 300u);
  EXPECT_TRUE(client.manager->release({.caller = request.caller, .which = {.all = true}}));
  EXPECT_EQ(client.history().size(), 600u);
}

// More than one request to etcd may end.
TEST(EtcdServer, ManyThatRanOutAreSweptInOneCall) {
  constexpr std::size_t kMany = 250;
  EtcdClient client(fresh_etcd_url());
  AcquireRequest request = EtcdClient::request(ann(), "/0", 1s);
  for (std::size_t i = 1; i < kMany; ++i) request.paths.push_back({.path = fmt::format("/{}", i)});
  ASSERT_EQ(word_for(client.manager->acquire(request)), "granted");

  std::size_t ended = 0;
  EXPECT_TRUE(eventually([&] {
    const auto swept = client.manager->sweep();
    ended = swept ? swept->ended : 0;
    return ended > 0;
  }));
  EXPECT_EQ(ended, kMany);
}

TEST(EtcdServer, WhatItDoesNotTakeAtOnceIsALimit) {
  EtcdCluster cluster(1, {"--max-txn-ops", "20"});
  EtcdClient client(cluster.url());
  AcquireRequest request = {.caller = {{.owner = ann()}}};
  for (int i = 0; i < 40; ++i) request.paths.push_back({.path = fmt::format("/file{}", i)});

  const auto answer = client.manager->acquire(request);

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::limit_exceeded);
  EXPECT_NE(answer.error().message.find("--max-txn-ops"), std::string::npos);
  EtcdClient told(cluster.url() + "?max_txn_ops=20");
  EXPECT_EQ(word_for(told.acquire(ann(), "/a")), "granted");
}

TEST(EtcdServer, HistoryKeepsTheNewestTenThousand) {
  EtcdClient client(fresh_etcd_url());
  constexpr int kCommits = 200;
  constexpr int kEvents = 100;
  for (int i = 0; i < kCommits; ++i) {
    ASSERT_TRUE(
        client.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
          for (int j = 0; j < kEvents; ++j) {
            Event event = make_event(make_lease(1, "/a"));
            event.reason = std::to_string(i * kEvents + j);
            event.wall += std::chrono::microseconds(j);  // None shares its key with another.
            transaction.append(event);
          }
          return {};
        }));
  }

  const auto events = client.history();

  EXPECT_GE(events.size(), 10'000u);
  EXPECT_LT(events.size(), 14'000u);
  EXPECT_EQ(events.back().reason, std::to_string(kCommits * kEvents - 1));
  for (std::size_t i = 1; i < events.size(); ++i)
    ASSERT_EQ(std::stoi(events[i].reason), std::stoi(events[i - 1].reason) + 1);
}

TEST(EtcdServer, AWaiterIsWokenByWhoeverReleases) {
  const std::string url = fresh_etcd_url();
  EtcdClient first(url);
  EtcdClient second(url);
  first.must_acquire(ann(), "/a");
  std::string got;
  std::jthread waiter([&] {
    AcquireRequest request = EtcdClient::request(bob(), "/a");
    request.wait = 30s;
    got = word_for(second.manager->acquire_and_wait(request));
  });
  ASSERT_TRUE(eventually([&] { return first.waiting() == 1; }));

  EXPECT_TRUE(first.release(ann(), "/a"));
  waiter.join();

  EXPECT_EQ(got, "granted");
}

TEST(EtcdServer, OneThatIsNotThereIsUnavailable) {
  const auto store = open_etcd_store("etcd://127.0.0.1:1,127.0.0.1:2", {.timeout = 300ms});

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::unavailable);
}

TEST(EtcdServer, ThoseWhoAreAwayArePassedOver) {
  EtcdCluster cluster;
  EtcdClient client("etcd://127.0.0.1:1," + cluster.endpoint(0) + "/test");

  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
}

TEST(EtcdServer, UserAndPasswordAreAskedFor) {
  EtcdCluster cluster;
  cluster.etcdctl("user add root:secret");
  cluster.etcdctl("user grant-role root root");
  cluster.etcdctl("auth enable");
  const std::string at = cluster.endpoint(0) + "/test";

  EtcdClient client("etcd://root:secret@" + at);
  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "busy");

  const auto wrong = open_etcd_store("etcd://root:other@" + at);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::config_error);
  EXPECT_EQ(wrong.error().message.find("other"), std::string::npos);
  const auto none = open_etcd_store("etcd://" + at);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::config_error);
}

// What a member gave the user when he logged in does not last, and a stream has it from when it began.
TEST(EtcdServer, WhoHasToLogInAnewCanStillBeginToWait) {
  EtcdCluster cluster;
  cluster.etcdctl("user add root:secret");
  cluster.etcdctl("user grant-role root root");
  cluster.etcdctl("auth enable");
  EtcdClient client("etcd://root:secret@" + cluster.endpoint(0) + "/test");
  const auto first = client.store->listen(kWorkspace, group_id(1));
  ASSERT_TRUE(first) << first.error().message;

  const TempFolder folder;
  std::ofstream(folder.path() + "/same") << "secret\n";
  cluster.etcdctl("--user root:secret user passwd root --interactive=false < " + folder.path() + "/same");

  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
  EXPECT_TRUE(eventually([&] { return client.store->listen(kWorkspace, group_id(2)).has_value(); }));
}

TEST(EtcdServer, WhereThereAreNoUsersTheUrlMayNotNameOne) {
  EtcdCluster cluster;

  const auto store = open_etcd_store("etcd://root:secret@" + cluster.endpoint(0) + "/test");

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::config_error) << store.error().message;
}

// What opening a store there comes to, in a word.
std::string code_of(const std::string& url) {
  const auto store = open_etcd_store(url);
  return store ? "opened" : std::string(info(store.error().code).name);
}

TEST(EtcdServer, TlsChecksTheServersNameAndShowsTheClientsCertificate) {
  const Certificates certificates;
  EtcdCluster cluster(
      1, {"--cert-file", certificates.file("server.pem"), "--key-file", certificates.file("server.key"),
          "--trusted-ca-file", certificates.file("ca.pem"), "--client-cert-auth"});
  const std::string base = "etcds://" + cluster.endpoint(0) + "/test";
  const std::string ca = "?ca=" + certificates.file("ca.pem");
  const std::string own =
      "&cert=" + certificates.file("client.pem") + "&key=" + certificates.file("client.key");
  const std::string name = "&server_name=leases.example";

  EtcdClient client(base + ca + own + name);
  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
  AcquireRequest wanted = EtcdClient::request(bob(), "/a");
  wanted.wait = 30s;
  std::jthread releaser([&] {
    EtcdClient other(base + ca + own + name);
    eventually([&] { return other.waiting() == 1; });
    EXPECT_TRUE(other.release(ann(), "/a"));
  });
  EXPECT_EQ(word_for(client.manager->acquire_and_wait(wanted)), "granted");

  EXPECT_EQ(code_of(base + ca + own), "config_error") << "another server name";
  EXPECT_EQ(code_of(base + "?" + own.substr(1) + name), "config_error") << "no CA that signed it";
  EXPECT_NE(code_of(base + ca + name), "opened") << "no certificate of our own";
  EXPECT_EQ(code_of(base + "?ca=/nowhere"), "config_error");
  EXPECT_NE(code_of("etcd://" + cluster.endpoint(0)), "opened") << "TLS is asked for";
}

}  // namespace
}  // namespace leasehold
