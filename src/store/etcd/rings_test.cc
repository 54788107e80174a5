// A grant comes with the ring; whatever happened to it since goes before.
#include <gtest/gtest.h>
#include <poll.h>

#include "support/etcd_client.h"
#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

class EtcdRing : public testing::Test {
 protected:
  EtcdRing() { use_ticket(1); }

  void use_ticket(int number) {
    lease = make_lease(number, "/a", bob());
    ticket = make_ticket(number, {"/a"});
    ticket.status = Status::active;
    ticket.leases = {lease.id};
    lease.group_id = ticket.id;
    lease.expires_at = kForever;
  }

  // Grants what the bell is for, and waits until the waiter has heard it.
  void grant_and_ring() {
    auto bell = waiter.store->listen(kWorkspace, ticket.id);
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
  Lease lease;
  Ticket ticket;
  std::unique_ptr<Bell> bell_;
};

// Unless it comes to look only when the ring is old; counting the calls takes time, too.
TEST_F(EtcdRing, WhoHeardItKnowsWhatItGotWithoutReading) {
  int tries = 0;
  EXPECT_TRUE(eventually([&] {
    use_ticket(++tries);
    grant_and_ring();
    const double calls = cluster.calls();
    EXPECT_EQ(status_of_lease(), Status::active);
    return cluster.calls() == calls;
  }));
}

TEST_F(EtcdRing, IsOfItsWorkspaceOnly) {
  grant_and_ring();

  const auto see = [&](View& view) -> Result<void> {
    EXPECT_FALSE(view.ticket(ticket.id));
    return {};
  };
  EXPECT_TRUE(waiter.store->view({.workspace = "other", .owners = {bob()}, .tickets = {ticket.id}}, see));
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
