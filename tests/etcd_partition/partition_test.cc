// One of three members is cut off from the others while clients still reach all three.
#include "etcd_faults/crowd.h"
#include "support/networks.h"

namespace leasehold {
namespace {

struct EtcdPartition : testing::Test {
  // Cuts it off while a crowd is at work, and one client asks only there.
  void cut_off(int member, Crowd& crowd) {
    EtcdClient alone(cluster.url_of(member), {.timeout = 2s});
    AcquireRequest request = EtcdClient::request(ann(), "/nobody/else");
    request.reason = "1";  // Of so many leases: what the replay wants to know.
    const auto acquire = [&] { return word_for(alone.manager->acquire(request)); };
    ASSERT_EQ(acquire(), "granted");
    ASSERT_TRUE(alone.release(ann(), "/nobody/else"));

    Networks::cut_off(member);

    EXPECT_TRUE(eventually([&] { return acquire() == "unavailable"; })) << "it grants alone";
    EXPECT_TRUE(crowd.goes_on()) << "the others do not go on";
    EXPECT_EQ(acquire(), "unavailable");
    Networks::join_again(member);
    EXPECT_TRUE(eventually([&] { return acquire() == "granted"; })) << "it did not come back";
    EXPECT_TRUE(eventually([&] { return alone.release(ann(), "/nobody/else").has_value(); }));
    ASSERT_TRUE(crowd.goes_on());
  }

  const Networks networks{3};
  EtcdCluster cluster{3, {}, &networks};
};

// The leader still believes that it leads, for a while, and answers what it has.
TEST_F(EtcdPartition, AMemberThatIsCutOffGrantsNothingAndLosesNothing) {
  Crowd crowd(cluster);
  ASSERT_TRUE(crowd.goes_on());
  const int leader = cluster.wait_for_leader();

  cut_off(leader, crowd);
  cut_off((cluster.wait_for_leader() + 1) % cluster.size(), crowd);

  crowd.end_and_check();
}

}  // namespace
}  // namespace leasehold
