// A decision may rest on what this process left itself; whoever was there meanwhile is noticed.
#include "store/etcd/memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/etcd_client.h"
#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

using namespace etcd;

pb::RangeRequest asked(const KeyRange& range) {
  pb::RangeRequest request;
  request.set_key(range.first);
  request.set_range_end(range.second);
  return request;
}

Remembered known(const KeyRange& range, std::int64_t from, std::int64_t to) {
  return {.range = range, .found = {}, .from = from, .to = to, .at = 5s};
}

pb::TxnRequest putting(const std::string& key, const std::string& value) {
  pb::TxnRequest request;
  request.add_success()->mutable_request_put()->set_key(key);
  request.mutable_success(0)->mutable_request_put()->set_value(value);
  return request;
}

TEST(EtcdMemory, TellsOnlyWhatWasSoAtOneRevisionAndNotLongAgo) {
  Memory memory;
  memory.keep(known({"a", "b"}, 3, 7));
  memory.keep(known({"c", "d"}, 5, 9));
  memory.keep(known({"e", "f"}, 8, 9));

  const auto two = memory.find({asked({"a", "b"}), asked({"c", "d"})}, 5s);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->revision, 7);
  EXPECT_FALSE(memory.find({asked({"a", "b"}), asked({"e", "f"})}, 5s)) << "never at one revision";
  EXPECT_FALSE(memory.find({asked({"a", "b"}), asked({"x", "y"})}, 5s)) << "not all is known";
  EXPECT_FALSE(memory.find({asked({"a", "b"})}, 6s)) << "too long ago";
}

TEST(EtcdMemory, SaysNothingOfPlacesWhereOthersWere) {
  Memory memory;
  memory.keep(known({"a", "b"}, 3, 7));
  pb::RangeResponse found;
  found.add_kvs()->set_mod_revision(7);
  memory.compare({"a", "b"}, found, 6s);
  EXPECT_TRUE(memory.find({asked({"a", "b"})}, 5s)) << "that was known";

  found.add_kvs()->set_mod_revision(8);
  memory.compare({"a", "b"}, found, 6s);
  EXPECT_FALSE(memory.find({asked({"a", "b"})}, 5s));
  memory.keep(known({"a", "b"}, 9, 9));
  EXPECT_FALSE(memory.find({asked({"a", "b"})}, 5s)) << "they may come again";
}

TEST(EtcdMemory, ACommitIsAppliedAsEtcdDoesIt) {
  pb::RangeResponse found;
  const KeyRange range = {"a", "b"};
  EXPECT_TRUE(apply(putting("a2", "two"), 2, range, found));
  EXPECT_TRUE(apply(putting("a1", "one"), 3, range, found));
  EXPECT_TRUE(apply(putting("a2", "TWO"), 4, range, found));
  EXPECT_FALSE(apply(putting("b", "beyond"), 5, range, found));
  ASSERT_EQ(found.kvs_size(), 2);
  EXPECT_EQ(found.count(), 2);
  EXPECT_EQ(found.kvs(0).value(), "one");
  EXPECT_EQ(found.kvs(1).value(), "TWO");
  EXPECT_EQ(found.kvs(1).create_revision(), 2);
  EXPECT_EQ(found.kvs(1).mod_revision(), 4);

  pb::TxnRequest erasing;
  erasing.add_success()->mutable_request_delete_range()->set_key("a1");
  erasing.mutable_success(0)->mutable_request_delete_range()->set_range_end("a2");
  EXPECT_TRUE(apply(erasing, 6, range, found));
  ASSERT_EQ(found.kvs_size(), 1);
  EXPECT_EQ(found.kvs(0).key(), "a2");
}

TEST(EtcdMemory, WhoComesBackToAPathReadsNothing) {
  const EtcdCluster cluster;
  EtcdClient client(cluster.url());
  client.must_acquire(ann(), "/src/a");
  ASSERT_TRUE(client.release(ann(), "/src/a"));
  constexpr int kPairs = 10;
  const double calls = cluster.calls();

  for (int i = 0; i < kPairs; ++i) {
    client.must_acquire(ann(), "/src/a");
    ASSERT_TRUE(client.release(ann(), "/src/a"));
  }

  // Two commits each, and now and then a lease of etcd's to attach keys to. With reads there were twice as
  // many.
  EXPECT_LE(cluster.calls() - calls, 3 * kPairs);
}

// As lease doctor --repair does it, while others go on.
TEST(EtcdMemory, ABaseOfTokensThatWasRaisedIsSeenByThoseWhoNeverRest) {
  const std::string url = fresh_etcd_url();
  EtcdClient client(url);
  const Token before = client.must_acquire(ann(), "/a").token;
  const Token raised{before.value + 1'000'000'000'000};
  shared_etcd().etcdctl(fmt::format("put {}/base {}", url.substr(url.rfind('/') + 1), raised.value));

  EXPECT_TRUE(eventually([&] {
    std::this_thread::sleep_for(150ms);  // Fewer events than fill a bucket, which is noticed.
    EXPECT_TRUE(client.release(ann(), "/a"));
    return client.must_acquire(ann(), "/a").token > raised;
  }));
}

TEST(EtcdMemory, WhatSomebodyElseGotMeanwhileIsNotGrantedAgain) {
  const std::string url = fresh_etcd_url();
  EtcdClient first(url);
  EtcdClient second(url);
  for (int i = 0; i < 3; ++i) {
    const Lease own = first.must_acquire(ann(), "/a");
    ASSERT_TRUE(first.release(ann(), "/a"));
    const Lease other = second.must_acquire(bob(), "/a");
    EXPECT_GT(other.token, own.token);

    EXPECT_EQ(word_for(first.acquire(ann(), "/a")), "busy");
    ASSERT_TRUE(second.release(bob(), "/a"));
  }
}

TEST(EtcdMemory, WhatAnOperatorEndedIsNotRenewed) {
  const std::string url = fresh_etcd_url();
  EtcdClient first(url);
  EtcdClient second(url);
  first.must_acquire(ann(), "/a");
  ASSERT_TRUE(
      second.manager->force_release({.actor = "operator", .which = {.paths = {"/a"}}, .reason = "a test"}));

  const auto renewed = first.manager->renew({.caller = {{.owner = ann()}}, .which = {.paths = {"/a"}}});

  ASSERT_TRUE(renewed);
  EXPECT_TRUE(renewed->outcomes.front().error);
  EXPECT_EQ(word_for(second.acquire(bob(), "/a")), "granted");
}

// etcd deletes without a trace in the path's area; that the lease was still there has to be a condition too.
// Also of more than a transaction has conditions for.
TEST(EtcdMemory, WhatEtcdEndedIsNotRenewed) {
  for (const int count : {1, 40}) {
    EtcdCluster cluster;
    EtcdClient client(cluster.url());
    AcquireRequest wanted = EtcdClient::request(ann(), "/0", 30min);
    Selection which = {.paths = {"/0"}};
    for (int i = 1; i < count; ++i) {
      wanted.paths.push_back({.path = fmt::format("/{}", i)});
      which.paths.push_back(wanted.paths.back().path);
    }
    ASSERT_EQ(word_for(client.manager->acquire(wanted)), "granted");
    // Only what the leases hang on: of what else has ended the commit would notice that by itself.
    const std::string leases = cluster.etcdctl("lease list");
    int revoked = 0;
    for (std::size_t at = leases.find('\n'); at != std::string::npos && at + 1 < leases.size();) {
      const std::size_t end = leases.find('\n', at + 1);
      const std::string id = leases.substr(at + 1, end - at - 1);
      at = end;
      if (cluster.etcdctl("lease timetolive " + id).find("TTL(18") == std::string::npos) continue;
      cluster.etcdctl("lease revoke " + id);
      ++revoked;
    }
    ASSERT_EQ(revoked, 1);

    const auto renewed = client.manager->renew({.caller = {{.owner = ann()}}, .which = which, .ttl = 1h});

    ASSERT_TRUE(renewed);
    for (const Outcome& outcome : renewed->outcomes) EXPECT_TRUE(outcome.error) << outcome.path;
    const auto events = client.history();
    EXPECT_EQ(std::ranges::count(events, EventType::expired, &Event::type), count);
    EXPECT_EQ(std::ranges::count(events, EventType::renewed, &Event::type), 0);
  }
}

}  // namespace
}  // namespace leasehold
