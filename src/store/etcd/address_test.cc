#include "store/etcd/address.h"

#include <gtest/gtest.h>

namespace leasehold::etcd {
namespace {

TEST(EtcdAddress, NamesMembersPrefixAndUser) {
  const auto address =
      parse_url("etcd://ann:p%40ss@h1:2379,h2,[::1]:7/team/a/?timeout_ms=250&max_txn_ops=512");

  ASSERT_TRUE(address);
  EXPECT_EQ(address->endpoints, (std::vector<std::string>{"h1:2379", "h2:2379", "[::1]:7"}));
  EXPECT_EQ(address->prefix, "team/a");
  EXPECT_EQ(address->user, "ann");
  EXPECT_EQ(address->password, "p@ss");
  EXPECT_EQ(address->timeout, Duration(250));
  EXPECT_EQ(address->max_txn_ops, 512);
  EXPECT_FALSE(address->tls);
  EXPECT_EQ(address->shown(), "etcd://h1:2379,h2:2379,[::1]:7");
}

TEST(EtcdAddress, HasDefaults) {
  const auto address = parse_url("etcds://host");

  ASSERT_TRUE(address);
  EXPECT_EQ(address->endpoints, std::vector<std::string>{"host:2379"});
  EXPECT_EQ(address->prefix, "leasehold");
  EXPECT_TRUE(address->tls);
}

TEST(EtcdAddress, TakesCertificates) {
  const auto address =
      parse_url("etcds://h?ca=/a%20b/ca.pem&cert=/c.pem&key=/k.pem&server_name=etcd.example");

  ASSERT_TRUE(address);
  EXPECT_EQ(address->ca_file, "/a b/ca.pem");
  EXPECT_EQ(address->certificate, "/c.pem");
  EXPECT_EQ(address->key, "/k.pem");
  EXPECT_EQ(address->server_name, "etcd.example");
}

TEST(EtcdAddress, RefusesWhatItCannotMeanAndShowsNoPassword) {
  for (const char* url :
       {"etcd://", "etcd://a,,b", "etcd://:2379", "etcd://h:0", "etcd://h:secret", "http://secret",
        "etcd://secret@h", "etcd://u:%ZZsecret@h", "etcd://h/%Z", "etcd://h?timeout_ms=0",
        "etcd://h?max_txn_ops=secret", "etcd://h?what=secret", "etcd://h?ca"}) {
    const auto address = parse_url(url);
    ASSERT_FALSE(address) << url;
    EXPECT_EQ(address.error().code, Code::config_error);
    EXPECT_EQ(address.error().message.find("secret"), std::string::npos) << address.error().message;
  }
}

}  // namespace
}  // namespace leasehold::etcd
