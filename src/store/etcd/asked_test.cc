// What an owner asked for alone stands in one key from the first wait to the end of what it got: neither the
// grant nor the release writes it, and whoever reads it looks at the path.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "store/etcd/changes.h"
#include "store/etcd/cluster.h"
#include "store/etcd/keys.h"
#include "support/etcd_client.h"
#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

struct Standing {
  std::size_t held = 0;
  std::size_t listed = 0;
  std::size_t waits = 0;

  bool operator==(const Standing&) const = default;
};

constexpr Standing kNothing = {};
constexpr Standing kWaits = {.waits = 1};
constexpr Standing kHolds = {.held = 1, .listed = 1};

class EtcdAsked : public testing::Test {
 protected:
  // As a process sees it that knows nothing yet; and that all of it is whole.
  Standing of_bob() const {
    EtcdClient fresh(url);
    Standing found;
    const auto looked =
        fresh.store->view({.workspace = kWorkspace, .owners = {bob()}}, [&](View& view) -> Result<void> {
          const Filter of_bob = {.agent_id = bob().agent_id, .session_id = bob().session_id};
          found = {view.lease_count(bob()), view.leases(of_bob).size(), view.tickets(of_bob).size()};
          return {};
        });
    EXPECT_TRUE(looked) << looked.error().message;
    const auto defects = fresh.store->examine(kWorkspace, false);
    EXPECT_TRUE(defects && defects->empty());
    return found;
  }

  // Keys of bob's that begin so, without what is over.
  std::size_t keys_of_bob(char kind) const {
    std::string keys = shared_etcd().etcdctl(fmt::format("get --prefix --keys-only {}/w/{}/of/{}/{}", prefix,
                                                         kWorkspace, bob().session_id, bob().agent_id));
    std::size_t count = 0;
    for (auto at = keys.find('\0'); at != std::string::npos; at = keys.find('\0', at + 1))
      count += keys[at + 1] == kind ? 1 : 0;
    return count;
  }

  // Of those who wait for /a: what of their keys is behind the path.
  std::string names_of_waits() const {
    const std::string keys =
        shared_etcd().etcdctl(fmt::format("get --prefix --keys-only {}/w/{}/at//a", prefix, kWorkspace));
    std::string names;
    for (auto at = keys.find("\0t", 0, 2); at != std::string::npos; at = keys.find("\0t", at + 1, 2))
      names += keys.substr(at + 1, keys.find('\n', at) - at - 1);
    return names;
  }

  GroupId let_bob_wait(const std::string& path = "/a") {
    AcquireRequest request = EtcdClient::request(bob(), path);
    request.wait = std::chrono::seconds(30);
    const auto answer = client.manager->acquire(request);
    EXPECT_EQ(word_for(answer), "queued");
    return std::get<Queued>(answer->decision).ticket;
  }

  const std::string url = fresh_etcd_url();
  const std::string prefix = url.substr(url.rfind('/') + 1);
  EtcdClient client{url};
};

TEST_F(EtcdAsked, IsCountedOnceWhetherItIsWaitedForOrHeld) {
  client.must_acquire(ann(), "/a");
  let_bob_wait();
  EXPECT_EQ(of_bob(), kWaits);

  ASSERT_TRUE(client.release(ann(), "/a"));
  EXPECT_EQ(of_bob(), kHolds);
  EXPECT_EQ(keys_of_bob('q'), 1U);
  EXPECT_EQ(keys_of_bob('a'), 0U) << "the grant wrote none";

  EtcdClient other(url);
  ASSERT_TRUE(other.release(bob(), "/a"));
  EXPECT_EQ(of_bob(), kNothing);
}

TEST_F(EtcdAsked, GoesWithTheNextCommitOfItsOwner) {
  client.must_acquire(ann(), "/a");
  let_bob_wait();
  ASSERT_TRUE(client.release(ann(), "/a"));
  ASSERT_TRUE(client.release(bob(), "/a"));
  EXPECT_EQ(keys_of_bob('q'), 1U) << "the release did not write it";

  client.must_acquire(bob(), "/b");

  EXPECT_EQ(keys_of_bob('q'), 0U);
  EXPECT_EQ(of_bob(), kHolds);
}

TEST_F(EtcdAsked, StaysAsLongAsItSaysSomething) {
  client.must_acquire(ann(), "/a");
  let_bob_wait();
  client.must_acquire(bob(), "/b");
  EXPECT_EQ(of_bob(), (Standing{.held = 1, .listed = 1, .waits = 1}));

  ASSERT_TRUE(client.release(ann(), "/a"));
  client.must_acquire(bob(), "/c");
  EXPECT_EQ(of_bob(), (Standing{.held = 3, .listed = 3}));

  EtcdClient other(url);
  ASSERT_TRUE(other.manager->release({.caller = {{bob()}}, .which = {.all = true}}));
  EXPECT_EQ(of_bob(), kNothing);
}

TEST_F(EtcdAsked, ServesAgainForTheSamePath) {
  for (int round = 0; round < 3; ++round) {
    client.must_acquire(ann(), "/a");
    let_bob_wait();
    EXPECT_EQ(of_bob(), kWaits);
    EXPECT_EQ(names_of_waits(), fmt::format("t{}/{}", bob().session_id, bob().agent_id));
    ASSERT_TRUE(client.release(ann(), "/a"));
    EXPECT_EQ(of_bob(), kHolds);
    EXPECT_EQ(names_of_waits(), "");
    ASSERT_TRUE(client.release(bob(), "/a"));
  }
  EXPECT_EQ(keys_of_bob('q'), 1U);
  EXPECT_EQ(of_bob(), kNothing);
}

TEST_F(EtcdAsked, AWaitThatIsGivenUpIsOver) {
  client.must_acquire(ann(), "/a");
  const GroupId ticket = let_bob_wait();

  EtcdClient other(url);
  ASSERT_TRUE(other.manager->cancel({{bob()}}, ticket));

  EXPECT_EQ(of_bob(), kNothing);
  const auto looked = client.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    const auto ended = view.ticket(ticket);
    EXPECT_TRUE(ended);
    EXPECT_EQ(ended->status, Status::failed);
    EXPECT_EQ(ended->ended_by, EndCause::cancelled);
    return {};
  });
  EXPECT_TRUE(looked);
}

// Two commands of one agent: one key cannot say both.
TEST_F(EtcdAsked, ASecondWaitForThePathStandsByItself) {
  client.must_acquire(ann(), "/a");
  let_bob_wait();
  let_bob_wait();

  EXPECT_EQ(of_bob(), (Standing{.waits = 2}));
  EXPECT_EQ(keys_of_bob('q'), 1U);
  EXPECT_EQ(keys_of_bob('w'), 1U);
  ASSERT_TRUE(client.release(ann(), "/a"));
  EXPECT_EQ(of_bob(), kHolds) << "both waited for the same lease";
}

TEST_F(EtcdAsked, WhatIsHandedOnIsTheOthers) {
  client.must_acquire(ann(), "/a");
  let_bob_wait();
  ASSERT_TRUE(client.release(ann(), "/a"));

  TransferRequest transfer = {.caller = {{bob()}}, .to = ann()};
  transfer.which.paths = {"/a"};
  ASSERT_TRUE(client.manager->transfer(transfer));
  EXPECT_EQ(of_bob(), kNothing);
  ASSERT_TRUE(client.release(ann(), "/a"));
  EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "granted");
  EXPECT_EQ(of_bob(), kHolds);
}

// Who asked may never come again.
TEST_F(EtcdAsked, IsForgottenWithItsTicket) {
  client.must_acquire(ann(), "/a");
  let_bob_wait("/a");
  client.must_acquire(ann(), "/b");
  let_bob_wait("/b");
  ASSERT_TRUE(client.release(ann(), "/a"));
  ASSERT_TRUE(client.release(ann(), "/b"));
  ASSERT_TRUE(client.release(bob(), "/a"));
  const auto forget = [&](Time::duration later) {
    const auto done = client.store->transact({.workspace = kWorkspace}, [&](Transaction& t) -> Result<void> {
      t.forget(t.now() + later, WallTime::min(), 100);
      return {};
    });
    EXPECT_TRUE(done);
  };

  forget(-std::chrono::hours(1));
  EXPECT_EQ(keys_of_bob('q'), 2U);
  forget(std::chrono::hours(1));

  EXPECT_EQ(keys_of_bob('q'), 1U) << "the other one says what he holds";
  EXPECT_EQ(of_bob(), kHolds);
  ASSERT_TRUE(client.release(bob(), "/b"));
  forget(std::chrono::hours(1));
  EXPECT_EQ(keys_of_bob('q'), 0U);
  EXPECT_EQ(of_bob(), kNothing);
}

TEST_F(EtcdAsked, OfManyMostAreListedAsHeld) {
  for (int i = 0; i < 6; ++i) {
    const std::string path = fmt::format("/file_{}", i);
    client.must_acquire(ann(), path);
    let_bob_wait(path);
    ASSERT_TRUE(client.release(ann(), path));
  }
  client.must_acquire(bob(), "/b");

  EXPECT_EQ(keys_of_bob('q'), 4U);
  EXPECT_EQ(keys_of_bob('a'), 3U);
  EXPECT_EQ(of_bob(), (Standing{.held = 7, .listed = 7}));
  EtcdClient other(url);
  ASSERT_TRUE(other.manager->release({.caller = {{bob()}}, .which = {.all = true}}));
  EXPECT_EQ(of_bob(), kNothing);
}

// The wait is over, whatever became of what says so: it must not come back, and take the lease along.
TEST_F(EtcdAsked, AnEndThatIsDamagedCostsNobodyItsLease) {
  client.must_acquire(ann(), "/a");
  const GroupId ticket = let_bob_wait();
  ASSERT_TRUE(client.release(ann(), "/a"));
  const auto cluster = etcd::Cluster::open(*etcd::parse_url(url), std::chrono::seconds(5));
  etcd::pb::TxnRequest damage;
  *damage.add_success() = etcd::put_op(etcd::Keys(prefix, kWorkspace).end_of(ticket), "nonsense");
  (*cluster)->read(damage);

  EtcdClient other(url);
  const auto defects = other.store->examine(kWorkspace, true);
  ASSERT_TRUE(defects);
  EXPECT_EQ(defects->size(), 1U);
  ASSERT_TRUE(other.manager->sweep());

  EXPECT_EQ(of_bob(), kHolds);
}

TEST_F(EtcdAsked, WhatLeadsNowhereIsFoundAndRemoved) {
  Lease lost = make_lease(1, "/lost", bob());
  lost.status = Status::pending;
  const auto done = client.store->transact({.workspace = kWorkspace}, [&](Transaction& t) -> Result<void> {
    t.put(lost);
    return {};
  });
  ASSERT_TRUE(done);

  const auto defects = client.store->examine(kWorkspace, true);

  ASSERT_TRUE(defects);
  ASSERT_EQ(defects->size(), 1U);
  EXPECT_NE(defects->front().where.find(lost.id.text), std::string::npos);
  EXPECT_TRUE(client.store->examine(kWorkspace, false)->empty());
}

}  // namespace
}  // namespace leasehold
