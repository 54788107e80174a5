// Three members, some of which fail while clients are at work.
#include <fmt/format.h>

#include "etcd_faults/crowd.h"

namespace leasehold {
namespace {

TEST(EtcdFaults, AKilledLeaderLosesNothing) {
  EtcdCluster cluster(3);
  Crowd crowd(cluster);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(crowd.goes_on());
    const int leader = cluster.wait_for_leader();

    cluster.kill_hard(leader);

    ASSERT_TRUE(crowd.goes_on()) << "nobody took over";
    cluster.start(leader);
    cluster.wait_until_ready(leader);
  }
  ASSERT_TRUE(crowd.goes_on());
  crowd.end_and_check();
}

// It comes back, believes that it leads, and has requests in its hands that others have given up.
TEST(EtcdFaults, ALeaderThatSleptPastItsElectionLosesNothing) {
  EtcdCluster cluster(3);
  Crowd crowd(cluster);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(crowd.goes_on());
    const int leader = cluster.wait_for_leader();

    cluster.pause(leader);
    ASSERT_TRUE(crowd.goes_on()) << "nobody took over";
    cluster.go_on(leader);

    ASSERT_TRUE(crowd.goes_on());
  }
  crowd.end_and_check();
}

TEST(EtcdFaults, MembersAreRestartedOneByOne) {
  EtcdCluster cluster(3);
  Crowd crowd(cluster);
  for (int member = 0; member < cluster.size(); ++member) {
    ASSERT_TRUE(crowd.goes_on());
    cluster.stop(member);
    ASSERT_TRUE(crowd.goes_on());
    cluster.start(member);
    cluster.wait_until_ready(member);
  }
  ASSERT_TRUE(crowd.goes_on());
  crowd.end_and_check();
}

TEST(EtcdFaults, WithoutAMajorityNothingIsGrantedAndThenAllGoesOn) {
  EtcdCluster cluster(3);
  Crowd crowd(cluster);
  ASSERT_TRUE(crowd.goes_on());
  EtcdClient client(cluster.url(), {.timeout = 3s});
  const int leader = cluster.wait_for_leader();
  const int other = (leader + 1) % 3;

  cluster.kill_hard(leader);
  cluster.kill_hard(other);

  AcquireRequest request = EtcdClient::request(ann(), "/nobody/else");
  request.reason = "1";  // Of so many leases: what the replay wants to know.
  // What was under way is over by then.
  const auto is_unavailable = [&] { return word_for(client.manager->acquire(request)) == "unavailable"; };
  ASSERT_TRUE(eventually(is_unavailable));
  const int before = crowd.grants();
  EXPECT_TRUE(is_unavailable());
  EXPECT_EQ(crowd.grants(), before);

  cluster.start(leader);
  cluster.start(other);
  ASSERT_TRUE(crowd.goes_on()) << "it did not recover";
  EXPECT_TRUE(eventually([&] { return word_for(client.manager->acquire(request)) == "granted"; }));
  EXPECT_TRUE(eventually([&] { return client.release(ann(), "/nobody/else").has_value(); }));
  crowd.end_and_check();
}

TEST(EtcdFaults, CompactionUnderWatchersAndReadersDisturbsNobody) {
  EtcdCluster cluster(3);
  Crowd crowd(cluster);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(crowd.goes_on(5));
    const std::string status = cluster.etcdctl("get nothing --write-out=json");
    const std::size_t at = status.find("\"revision\":") + 11;
    cluster.etcdctl("compact " + status.substr(at, status.find_first_not_of("0123456789", at) - at));
  }
  ASSERT_TRUE(crowd.goes_on());
  crowd.end_and_check();
}

TEST(EtcdFaults, AFullDatabaseSaysSoAndLosesNothing) {
  EtcdCluster cluster(3, {"--quota-backend-bytes", "8388608"});
  EtcdClient client(cluster.url());
  const Lease held = client.must_acquire(ann(), "/held");
  // Somebody else's data fills it.
  std::optional<Error> refused;
  for (int i = 0; i < 200 && !refused; ++i) {
    cluster.etcdctl(fmt::format("put filler{} {} || true", i, std::string(100'000, 'x')));
    const auto answer = client.acquire(bob(), fmt::format("/more/{}", i));
    if (!answer) refused = answer.error();
  }

  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::unavailable);
  EXPECT_NE(refused->message.find("alarm disarm"), std::string::npos) << refused->message;
  EXPECT_EQ(word_for(client.acquire(bob(), "/held")), "busy") << "what only reads goes on";
  EXPECT_FALSE(client.release(ann(), "/held"));

  cluster.etcdctl("del filler --prefix");
  const std::string status = cluster.etcdctl("get nothing --write-out=json");
  const std::size_t at = status.find("\"revision\":") + 11;
  cluster.etcdctl("compact " + status.substr(at, status.find_first_not_of("0123456789", at) - at));
  cluster.etcdctl("defrag");
  cluster.etcdctl("alarm disarm");
  EXPECT_TRUE(eventually([&] { return word_for(client.acquire(bob(), "/held")) == "busy"; }));
  EXPECT_TRUE(client.release(ann(), "/held"));
  EXPECT_EQ(client.must_acquire(bob(), "/held").holder.owner, bob());
  EXPECT_GT(client.must_acquire(bob(), "/held").token, held.token);
}

}  // namespace
}  // namespace leasehold
