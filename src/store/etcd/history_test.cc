// Events of one commit under one key.
#include "store/etcd/history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "store/json/stored_records.h"
#include "support/etcd_client.h"
#include "support/etcd_cluster.h"

namespace leasehold::etcd {
namespace {

TEST(EtcdHistory, OneEventStandsAsEver) {
  const Event event = make_event(make_lease(1, "/a"));

  EXPECT_EQ(to_text(std::vector{event}), to_json(event));
  EXPECT_EQ(events_from(to_json(event)), std::vector{event});
}

TEST(EtcdHistory, WhatIsPartlyNoEventIsNone) {
  const std::string event = to_json(make_event(make_lease(1, "/a")));
  const std::string nul(1, '\0');

  EXPECT_EQ(events_from(event + nul + event)->size(), 2U);
  for (const std::string& text :
       {std::string(), nul, event + nul, nul + event, event + nul + "{", event + "x"})
    EXPECT_FALSE(events_from(text)) << testing::PrintToString(text);
}

TEST(EtcdHistory, ManyOfOneCommitShareKeysAndKeepTheirOrder) {
  constexpr std::size_t kMany = 20;
  const std::string url = fresh_etcd_url();
  EtcdClient client(url);
  AcquireRequest request = {.caller = {{.owner = ann()}}};
  for (std::size_t i = 0; i < kMany; ++i) request.paths.push_back({.path = fmt::format("/file{}", i)});
  ASSERT_EQ(word_for(client.manager->acquire(request)), "granted");
  ASSERT_TRUE(client.release(ann(), "/file0"));

  const std::string keys = shared_etcd().etcdctl(
      fmt::format("get --prefix --keys-only {}/w/{}/history/", url.substr(url.rfind('/') + 1), kWorkspace));
  EXPECT_EQ(std::ranges::count(keys, '\n') / 2, kMany / 2 + 1) << keys;  // Behind each an empty line.

  const std::vector<Event> events = client.history();
  ASSERT_EQ(events.size(), kMany + 1);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].path, request.paths[i % kMany].path);
    const auto rest = client.manager->history({.after = events[i].sequence});
    ASSERT_TRUE(rest);
    EXPECT_EQ(*rest, std::vector(events.begin() + static_cast<std::ptrdiff_t>(i) + 1, events.end()));
  }
}

// An earlier version wrote each under its own.
TEST(EtcdHistory, OldAndNewKeysAreOneHistory) {
  const std::string url = fresh_etcd_url();
  EtcdClient client(url);
  for (int i = 0; i < 2; ++i) {
    shared_etcd().etcdctl(fmt::format("put {}/w/{}/history/000000000000/old-{} '{}'",
                                      url.substr(url.rfind('/') + 1), kWorkspace, i,
                                      to_json(make_event(make_lease(i, "/old")))));
  }
  client.must_acquire(ann(), "/a");

  const std::vector<Event> events = client.history();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].lease_id, lease_id(0));
  EXPECT_EQ(events[1].lease_id, lease_id(1));
  EXPECT_EQ(events[2].path, "/a");
  EXPECT_TRUE(client.store->examine(kWorkspace, false)->empty());
}

TEST(EtcdHistory, ACommitHasNoMoreEventsThanItCanNumber) {
  EtcdClient client(fresh_etcd_url());
  const auto commit = [&](int count) {
    return client.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
      for (int i = 0; i < count; ++i) transaction.append(make_event(make_lease(i, "/a")));
      return {};
    });
  };
  ASSERT_TRUE(commit(4'096));
  ASSERT_TRUE(commit(1));
  const auto too_many = commit(4'097);
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code, Code::limit_exceeded);

  const std::vector<Event> events = client.history();
  ASSERT_EQ(events.size(), 4'097U);
  for (std::size_t i = 1; i < events.size(); ++i) ASSERT_GT(events[i].sequence, events[i - 1].sequence);
}

}  // namespace
}  // namespace leasehold::etcd
