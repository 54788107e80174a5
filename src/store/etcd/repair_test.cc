// lease doctor --repair on etcd: what somebody else's hands did is found, removed, and nothing is lost that
// could be kept.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/etcd_client.h"
#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

struct EtcdRepair : testing::Test {
  // How etcdctl is told of a key of this workspace: NULs cannot be arguments.
  std::string put(const std::string& key, const std::string& value) const {
    return shared_etcd().etcdctl(fmt::format("put {}/w/{}/{} '{}'", prefix, kWorkspace, key, value));
  }

  // Finds so many defects, all of them repaired or none, and `where` among them.
  void expect_defects(bool repair, std::size_t count, const std::string& where = {}) {
    const auto defects = client.store->examine(kWorkspace, repair);
    ASSERT_TRUE(defects) << defects.error().message;
    EXPECT_EQ(defects->size(), count);
    bool is_named = where.empty();
    for (const Defect& defect : *defects) {
      EXPECT_EQ(defect.repaired, repair) << defect.where << ": " << defect.what;
      is_named = is_named || defect.where.find(where) != std::string::npos;
    }
    EXPECT_TRUE(is_named) << where;
  }

  const std::string url = fresh_etcd_url();
  const std::string prefix = url.substr(url.rfind('/') + 1);
  EtcdClient client{url};
};

TEST_F(EtcdRepair, FindsNothingWhereOnlyLeaseholdWrote) {
  client.must_acquire(ann(), "/a");
  client.must_acquire(bob(), "/b");
  AcquireRequest waits = EtcdClient::request(bob(), "/a");
  waits.wait = 30s;
  ASSERT_EQ(word_for(client.manager->acquire(waits)), "queued");
  ASSERT_TRUE(client.release(bob(), "/b"));

  expect_defects(false, 0);
}

// What is over leaves an empty key for a while, so that nothing has to be deleted; but not any number of
// them.
TEST_F(EtcdRepair, WhatAnOwnerGaveBackCountsForNothing) {
  client.must_acquire(ann(), "/kept");
  for (int i = 0; i < 40; ++i) {
    const std::string path = fmt::format("/file_{}", i);
    client.must_acquire(ann(), path);
    ASSERT_TRUE(client.release(ann(), path));
  }

  EtcdClient other(url);
  const auto looked = other.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    EXPECT_EQ(view.lease_count(ann()), 1U);
    EXPECT_EQ(view.leases({.agent_id = ann().agent_id}).size(), 1U);
    return {};
  });
  EXPECT_TRUE(looked);
  expect_defects(false, 0);
  const std::string keys =
      shared_etcd().etcdctl(fmt::format("get --prefix --keys-only {}/w/{}/of/", prefix, kWorkspace));
  const auto of_files = [&](const std::string& text) {
    std::size_t count = 0;
    for (auto at = keys.find(text); at != std::string::npos; at = keys.find(text, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(of_files("/kept"), 1U);
  EXPECT_EQ(of_files("/file_"), 16U);
}

// Many are counted, not read; and near a limit they are read all the same.
TEST_F(EtcdRepair, WhatALargeOwnerGaveBackCountsForNothing) {
  const auto acquire_many = [&](int from, int to) {
    AcquireRequest request = EtcdClient::request(ann(), fmt::format("/file_{}", from));
    for (int i = from + 1; i < to; ++i) request.paths.push_back({.path = fmt::format("/file_{}", i)});
    EXPECT_EQ(word_for(client.manager->acquire(request)), "granted");
  };
  acquire_many(0, 50);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(client.release(ann(), fmt::format("/file_{}", i)));
  acquire_many(50, 100);

  Policy policy;
  policy.leases_per_owner_max = 91;
  client.use_policy(policy);
  EXPECT_EQ(word_for(client.acquire(ann(), "/last")), "granted");
  const auto refused = client.acquire(ann(), "/one_more");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::limit_exceeded);
}

TEST_F(EtcdRepair, RemovesWhatIsNoRecordAndWhatLeadsNowhere) {
  const Lease held = client.must_acquire(ann(), "/a");
  put("id/no-such-lease", "@/gone");
  put("id/nonsense", "nonsense");
  put("ticket/nonsense", "{}");
  put("answer/s/ann/key", "[]");
  put("rate/s", "many");
  put("history/000000000000/nonsense-0", "once upon a time");

  expect_defects(false, 6, "no-such-lease");
  expect_defects(true, 6, "history/");
  expect_defects(false, 0);
  EXPECT_EQ(client.must_acquire(ann(), "/a").token, held.token) << "it is still held";
}

TEST_F(EtcdRepair, ARecordThatCannotBeReadStopsOnlyThoseWhoNeedIt) {
  put("ticket/nonsense", "{}");
  put("rate/s", "many");
  put("id/nonsense", "nonsense");

  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
  const auto looked = client.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    (void)view.lease({"nonsense"});
    return {};
  });
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().code, Code::corrupt);
  EXPECT_NE(looked.error().message.find("lease doctor --repair"), std::string::npos);
}

TEST_F(EtcdRepair, ABaseOfTokensThatIsNoNumberIsTold) {
  client.must_acquire(ann(), "/a");
  shared_etcd().etcdctl(fmt::format("put {}/base xyz", prefix));
  EtcdClient other(url);

  const auto refused = other.acquire(bob(), "/b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::corrupt) << refused.error().message;

  expect_defects(true, 1, "/base");
  EXPECT_TRUE(other.acquire(bob(), "/b"));
}

// As after restoring a copy of the cluster whose revisions begin lower.
TEST_F(EtcdRepair, RaisesTheBaseOfTokensAboveThoseInUse) {
  const Lease held = client.must_acquire(ann(), "/a");
  shared_etcd().etcdctl(fmt::format("put {}/base 1", prefix));
  EXPECT_GT(client.must_acquire(bob(), "/b").token, Token{0});

  expect_defects(false, 1, "/base");
  expect_defects(true, 1, "/base");
  expect_defects(false, 0);
  ASSERT_TRUE(client.release(ann(), "/a"));
  EXPECT_GT(client.must_acquire(bob(), "/a").token, held.token);
}

}  // namespace
}  // namespace leasehold
