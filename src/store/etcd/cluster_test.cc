// Which of a cluster's members is asked.
#include "store/etcd/cluster.h"

#include <gtest/gtest.h>

#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

using namespace etcd;
using namespace std::chrono_literals;

class EtcdMembers : public testing::Test {
 protected:
  static std::unique_ptr<Cluster> connected(const std::string& url) {
    return std::move(*Cluster::open(*parse_url(url), 5s));
  }

  static std::uint64_t member_asked(const Cluster& cluster) {
    pb::RangeRequest request;
    request.set_key("k");
    return cluster.range(request).header().member_id();
  }

  // All members, this one first.
  std::string url_from(int first) const {
    std::string url = "etcd://" + members.endpoint(first);
    for (int i = 1; i < members.size(); ++i) url += "," + members.endpoint((first + i) % members.size());
    return url;
  }

  EtcdCluster members{3};
};

TEST_F(EtcdMembers, TheLeaderIsPreferred) {
  const int leader = members.wait_for_leader();
  const std::uint64_t leading = member_asked(*connected(members.url_of(leader)));

  for (int first = 0; first < members.size(); ++first) {
    const auto cluster = connected(url_from(first));
    EXPECT_EQ(member_asked(*cluster) == leading, first == leader) << "who asks once takes the first";
    cluster->prefer_leader();
    EXPECT_EQ(member_asked(*cluster), leading);
  }
}

TEST_F(EtcdMembers, WhoIsAskedStaysWhereNobodyLeads) {
  const int leader = members.wait_for_leader();
  const int other = (leader + 1) % members.size();
  const auto cluster = connected(url_from(other));
  const std::uint64_t asked = member_asked(*cluster);

  members.pause(leader);
  const auto began = std::chrono::steady_clock::now();
  cluster->prefer_leader();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s) << "what does not answer is not waited for";
  pb::RangeRequest of_its_own;
  of_its_own.set_key("k");
  of_its_own.set_serializable(true);
  EXPECT_EQ(cluster->range(of_its_own).header().member_id(), asked);
  members.go_on(leader);
}

}  // namespace
}  // namespace leasehold
