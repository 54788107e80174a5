// A grant comes with the ring; whatever happened to it since goes before.
#include "store/etcd/rings.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "support/etcd_client.h"
#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

using namespace etcd;

TEST(EtcdRings, AreReadAsTheyWereWritten) {
  Ring ring = {.ticket = filled_ticket(), .leases = {filled_lease(), extreme_lease()}};
  ring.next = {.workspace = "w", .path = "/a", .owner = "s/bob", .leases = {lease_id(1), lease_id(2)}};

  const Ring read = ring_from(to_text(ring));

  EXPECT_EQ(read.ticket, ring.ticket);
  EXPECT_EQ(read.leases, ring.leases);
  EXPECT_EQ(read.next.workspace, "w");
  EXPECT_EQ(read.next.path, "/a");
  EXPECT_EQ(read.next.owner, "s/bob");
  EXPECT_EQ(read.next.leases, ring.next.leases);
}

TEST(EtcdRings, WhatIsNotOurTextTellsNothing) {
  for (const std::string& text :
       {std::string(), std::string("17"), std::string("t{}\0l{\0", 7), std::string(3, '\0')})
    EXPECT_FALSE(ring_from(text).ticket) << text;
}

// One store serves several workspaces, and each may have a file of that name.
TEST(EtcdRings, WhoIsNextIsToldInItsWorkspaceOnly) {
  Rings rings;
  for (const char* workspace : {"one", "two"})
    rings.note_next({.workspace = workspace, .path = "/a", .owner = workspace, .leases = {}});

  EXPECT_EQ(rings.take_next("one", "/a").owner, "one");
  EXPECT_EQ(rings.take_next("two", "/a").owner, "two");
  EXPECT_EQ(rings.take_next("one", "/a").owner, "") << "it is told once";
}

class EtcdRing : public testing::Test {
 protected:
  EtcdRing() {
    ticket.status = Status::active;
    ticket.leases = {lease.id};
    lease.group_id = ticket.id;
    lease.expires_at = kForever;
  }

  // Grants what the bell is for, and waits until the waiter has heard it.
  void grant_and_ring() {
    auto bell = waiter.store->listen(ticket.id);
    ASSERT_TRUE(bell);
    bell_ = std::move(*bell);
    const auto granted = other.store->transact({.workspace = kWorkspace, .owners = {bob()}},
                                               [&](Transaction& transaction) -> Result<void> {
                                                 transaction.put(lease);
                                                 transaction.put(ticket);
                                                 transaction.ring(ticket.id);
                                                 return {};
                                               });
    ASSERT_TRUE(granted);
    pollfd fd = {bell_->fd(), POLLIN, 0};
    ASSERT_EQ(poll(&fd, 1, 10'000), 1);
  }

  // What a waiter sees that looks after its ticket.
  Status status_of_lease() {
    Status status = Status::pending;
    const auto looked =
        waiter.store->view({.workspace = kWorkspace, .owners = {bob()}, .tickets = {ticket.id}},
                           [&](View& view) -> Result<void> {
                             if (view.ticket(ticket.id) && view.notices(bob()).empty())
                               status = view.lease(lease.id)->status;
                             return {};
                           });
    EXPECT_TRUE(looked);
    return status;
  }

  static void end(EtcdClient& client, const Lease& lease) {
    EXPECT_TRUE(client.store->transact({.workspace = kWorkspace, .leases = {lease.id}},
                                       [&](Transaction& transaction) -> Result<void> {
                                         Lease over = *transaction.lease(lease.id);
                                         over.status = Status::released;
                                         over.ended_by = EndCause::forced;
                                         transaction.put(over);
                                         return {};
                                       }));
  }

  const EtcdCluster cluster;
  EtcdClient waiter{cluster.url()};
  EtcdClient other{cluster.url()};
  Lease lease = make_lease(1, "/a", bob());
  Ticket ticket = make_ticket(1, {"/a"});
  std::unique_ptr<Bell> bell_;
};

TEST_F(EtcdRing, WhoHeardItKnowsWhatItGotWithoutReading) {
  grant_and_ring();
  const double calls = cluster.calls();

  EXPECT_EQ(status_of_lease(), Status::active);

  EXPECT_EQ(cluster.calls(), calls);
}

TEST_F(EtcdRing, IsBelievedOnce) {
  grant_and_ring();
  EXPECT_EQ(status_of_lease(), Status::active);
  end(other, lease);

  EXPECT_EQ(status_of_lease(), Status::released);
}

TEST_F(EtcdRing, IsForgottenWhenThisProcessEndsWhatItTold) {
  grant_and_ring();
  end(waiter, lease);

  EXPECT_EQ(status_of_lease(), Status::released);
}

TEST_F(EtcdRing, OfOneWhoHasANoticeIsNoAnswer) {
  EXPECT_TRUE(other.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
    transaction.put(make_notice(1, make_lease(2, "/b", bob())));
    return {};
  }));
  grant_and_ring();

  EXPECT_EQ(status_of_lease(), Status::pending) << "it has to be told first";
}

TEST_F(EtcdRing, OfALeaseThatIsOverByTheClockIsNoAnswer) {
  lease.expires_at = Time(std::chrono::hours(24));  // In January 1970.
  grant_and_ring();
  const double calls = cluster.calls();

  (void)status_of_lease();

  EXPECT_GT(cluster.calls(), calls);
}

}  // namespace
}  // namespace leasehold
