// What became of a commit whose answer was lost.
#include "store/etcd/requests.h"

#include <gtest/gtest.h>

#include "support/etcd_cluster.h"

namespace leasehold::etcd {
namespace {

class EtcdRequests : public testing::Test {
 protected:
  // As a commit does it that leaves an event, or only its name; false: its condition failed.
  bool commit(const RequestSlot& slot, bool writes_name) {
    pb::TxnRequest request;
    *request.add_compare() = unchanged(slot);
    if (writes_name) {
      *request.add_success() = write_name(slot, slot.request);
    } else {
      request.add_success()->mutable_request_put()->set_key(slot.event);
    }
    const pb::TxnResponse response = cluster->read(request);
    revision = response.header().revision();
    return response.succeeded();
  }

  // One that has written its name before, so that its next commit needs not.
  RequestSlot used_slot() {
    RequestSlot slot = requests.take();
    EXPECT_TRUE(needs_name(slot, "event")) << "there is nothing to compare with";
    EXPECT_TRUE(commit(slot, true));
    slot.mod_revision = revision;
    slot.written = std::chrono::steady_clock::now();
    slot.request = "2";
    return slot;
  }

  const std::string url = fresh_etcd_url();
  std::unique_ptr<Cluster> cluster = std::move(*Cluster::open(*parse_url(url), std::chrono::seconds(5)));
  LeasePool leases{*cluster};
  Requests requests{*cluster, leases};
  std::string event = cluster->address().prefix + "/event";
  std::int64_t revision = 0;
};

TEST_F(EtcdRequests, OneThatLeftItsNameWasMade) {
  RequestSlot slot = requests.take();
  EXPECT_TRUE(needs_name(slot, {}));
  ASSERT_TRUE(commit(slot, true));

  EXPECT_EQ(requests.made_at(slot), revision);
}

TEST_F(EtcdRequests, OneThatLeftItsEventWasMade) {
  RequestSlot slot = used_slot();
  ASSERT_FALSE(needs_name(slot, event));
  ASSERT_TRUE(commit(slot, false));

  EXPECT_EQ(requests.made_at(slot), revision);
}

TEST_F(EtcdRequests, OneThatWasNotMadeNeverWillBe) {
  for (const bool writes_name : {true, false}) {
    RequestSlot slot = used_slot();
    needs_name(slot, writes_name ? std::string() : event);
    const RequestSlot delayed = slot;

    EXPECT_EQ(requests.made_at(slot), 0);
    EXPECT_FALSE(commit(delayed, writes_name));
    EXPECT_TRUE(commit(slot, writes_name)) << "but it can be tried again";
  }
}

TEST_F(EtcdRequests, WithoutAnEventItLeavesItsName) {
  RequestSlot slot = used_slot();
  EXPECT_TRUE(needs_name(slot, {}));
}

TEST_F(EtcdRequests, NowAndThenItLeavesItsNameAllTheSame) {
  RequestSlot slot = used_slot();
  slot.written -= std::chrono::seconds(6);
  EXPECT_TRUE(needs_name(slot, event)) << "or its key would end while it is compared with";
}

}  // namespace
}  // namespace leasehold::etcd
