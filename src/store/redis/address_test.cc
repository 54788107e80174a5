#include "store/redis/address.h"

#include <gtest/gtest.h>

namespace leasehold::redis {
namespace {

TEST(RedisAddress, HostPortAndDatabase) {
  const auto address = parse_url("redis://cache.example:7000/3");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "cache.example");
  EXPECT_EQ(address->port, "7000");
  EXPECT_EQ(address->database, 3);
  EXPECT_FALSE(address->tls);
}

TEST(RedisAddress, WhatIsLeftOutHasItsDefault) {
  const auto address = parse_url("redis://localhost");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->port, "6379");
  EXPECT_EQ(address->database, 0);
  EXPECT_EQ(parse_url("redis://localhost/"), address);
}

TEST(RedisAddress, UserAndPasswordMayContainAnything) {
  const auto address = parse_url("redis://an%40n:p%3A%2F%25w:rd@h");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->user, "an@n");
  EXPECT_EQ(address->password, "p:/%w:rd");
  EXPECT_EQ(address->host, "h");
  const auto nameless = parse_url("redis://:secret@h");
  ASSERT_TRUE(nameless);
  EXPECT_EQ(nameless->user, "");
  EXPECT_EQ(nameless->password, "secret");
}

TEST(RedisAddress, TlsHasItsFiles) {
  const auto address = parse_url("rediss://h?ca=/ca.pem&cert=/c.pem&key=/k.pem&server_name=other");
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->tls);
  EXPECT_EQ(address->ca_file, "/ca.pem");
  EXPECT_EQ(address->certificate, "/c.pem");
  EXPECT_EQ(address->key, "/k.pem");
  EXPECT_EQ(address->server_name, "other");
}

TEST(RedisAddress, AUnixSocketIsAPath) {
  const auto address = parse_url("redis+unix:///run/redis/redis.sock?db=2&namespace=&command_timeout_ms=250");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->socket, "/run/redis/redis.sock");
  EXPECT_EQ(address->database, 2);
  EXPECT_EQ(address->name_space, "");
  EXPECT_EQ(address->command_timeout, Duration(250));
}

TEST(RedisAddress, Ipv6StandsInBrackets) {
  const auto address = parse_url("redis://[::1]:6380");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, "6380");
  EXPECT_EQ(address->shown(), "redis://[::1]:6380");
}

TEST(RedisAddress, WhatIsNotOneIsRefusedWithoutShowingAPassword) {
  for (const char* url :
       {"", "redis", "http://h", "redis://", "redis://h:port", "redis://h:0", "redis://h/x", "redis://u@h",
        "redis://:secret@", "redis://:secret@h?colour=red", "redis://h?db", "redis://:secret%4@h",
        "redis+unix://relative", "redis://[::1", "redis://:secret@h?ca=/ca.pem",
        "redis+unix:///s?server_name=h", "redis://h/5?db=6", "rediss://h?command_timeout_ms=0"}) {
    const auto address = parse_url(url);
    ASSERT_FALSE(address) << url;
    EXPECT_EQ(address.error().code, Code::config_error) << url;
    EXPECT_EQ(address.error().message.find("secret"), std::string::npos) << url;
  }
}

}  // namespace
}  // namespace leasehold::redis
