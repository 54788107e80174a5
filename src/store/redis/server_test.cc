// How a server is reached, and what it is warned of.
#include <gtest/gtest.h>

#include "support/certificates.h"
#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

std::vector<std::string> warnings_of(const std::string& url) {
  std::vector<std::string> warnings;
  RedisOptions options = RedisClient::quick();
  options.on_warning = [&](const std::string& warning) { warnings.push_back(warning); };
  const auto store = open_redis_store(url, options);
  EXPECT_TRUE(store) << testing::PrintToString(store.error());
  return warnings;
}

bool says(const std::vector<std::string>& warnings, const std::string& part) {
  return warnings.size() == 1 && warnings[0].find(part) != std::string::npos;
}

TEST(RedisServers, AGoodOneIsNotWarnedOf) {
  const RedisServer server;
  EXPECT_EQ(warnings_of(server.url()), std::vector<std::string>());
  EXPECT_EQ(warnings_of(server.tcp_url()), std::vector<std::string>());
}

TEST(RedisServers, OneThatMayEvictLeasesIsWarnedOf) {
  const RedisServer server({"--maxmemory-policy", "volatile-ttl"});
  EXPECT_TRUE(says(warnings_of(server.url()), "volatile-ttl"));
}

TEST(RedisServers, OneThatKeepsNothingIsWarnedOf) {
  const RedisServer nothing({"--appendonly", "no"});
  EXPECT_TRUE(says(warnings_of(nothing.url()), "keeps nothing"));
  const RedisServer snapshots({"--appendonly", "no", "--save", "3600", "1"});
  EXPECT_TRUE(says(warnings_of(snapshots.url()), "snapshots only"));
}

TEST(RedisServers, AReplicaIsWarnedOfAndRefusesWrites) {
  const RedisServer primary;
  const RedisServer replica({"--replicaof", "127.0.0.1", std::to_string(primary.port())});
  EXPECT_TRUE(says(warnings_of(replica.url()), "replica"));

  RedisClient client(replica.url());
  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "unavailable");
}

TEST(RedisServers, OneOfAClusterIsRefused) {
  const RedisServer server(
      {"--cluster-enabled", "yes", "--cluster-port", std::to_string(RedisServer::free_port())});
  const auto opened = open_redis_store(server.url(), RedisClient::quick());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::config_error);
  EXPECT_NE(opened.error().message.find("cluster"), std::string::npos) << opened.error().message;
}

TEST(RedisServers, OneThatDoesNotSayWhatItKeepsIsWarnedOf) {
  const RedisServer server;
  ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "on", ">secret", "~*", "&*", "+@all", "-info"}), "OK");
  EXPECT_TRUE(says(warnings_of("redis://agent:secret@127.0.0.1:" + std::to_string(server.port())), "+info"));
}

TEST(RedisServers, OneThatIsFullSaysSo) {
  const RedisServer server;
  ASSERT_EQ(server.call({"CONFIG", "SET", "maxclients", "1"}), "OK");
  const RedisClient first(server.url());
  const auto second = open_redis_store(server.url(), RedisClient::quick());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::unavailable);
  EXPECT_NE(second.error().message.find("max number of clients"), std::string::npos)
      << second.error().message;
}

TEST(RedisServers, UserAndPasswordAreAskedFor) {
  const RedisServer server;
  ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "on", ">secret", "~*", "&*", "+@all"}), "OK");
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  RedisClient client("redis://agent:secret@" + host);
  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");

  const auto wrong = open_redis_store("redis://agent:guess@" + host, RedisClient::quick());
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::config_error);
  EXPECT_EQ(wrong.error().message.find("guess"), std::string::npos);
}

std::string code_of(const std::string& url) {
  const auto store = open_redis_store(url, {.connect_timeout = 5s, .command_timeout = 5s});
  return store ? "opened" : std::string(info(store.error().code).name);
}

// The rights that docs/formats/redis.md names.
TEST(RedisServers, TheDocumentedRightsAreEnough) {
  const RedisServer server;
  const std::vector<std::string> rights = {"+@read",       "+@write",  "+@transaction",
                                           "+@scripting",  "+@pubsub", "+@connection",
                                           "+client|info", "+info",    "+time"};
  std::vector<std::string> user = {"ACL", "SETUSER", "agent", "on", ">secret", "~*", "&lease:bell:*"};
  user.insert(user.end(), rights.begin(), rights.end());
  ASSERT_EQ(server.call(user), "OK");
  const std::string url = "redis://agent:secret@127.0.0.1:" + std::to_string(server.port());

  RedisClient client(url);
  client.must_acquire(ann(), "/a");
  AcquireRequest wanted = RedisClient::request(bob(), "/a");
  wanted.wait = 30s;
  std::jthread releaser([&] {
    RedisClient other(url);
    eventually([&] { return other.waiting() == 1; });
    EXPECT_TRUE(other.release(ann(), "/a"));
  });
  EXPECT_EQ(word_for(client.manager->acquire_and_wait(wanted)), "granted");
  EXPECT_TRUE(client.manager->sweep(true));
  EXPECT_TRUE(client.store->examine(kWorkspace, true));

  ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "-time"}), "OK");
  EXPECT_EQ(word_for(client.acquire(ann(), "/b")), "config_error") << "asking again does not help";
}

TEST(RedisServers, WhoWaitsOnAServerThatIsEmptiedQueuesAgain) {
  const RedisServer server;
  RedisClient client(server.url());
  RedisClient other(server.url());
  client.must_acquire(ann(), "/a");
  AcquireRequest wanted = RedisClient::request(bob(), "/a");
  wanted.wait = 30s;
  std::jthread wiper([&] {
    eventually([&] { return other.waiting() == 1; });
    EXPECT_EQ(server.call({"FLUSHALL"}), "OK");
  });

  EXPECT_EQ(word_for(client.manager->acquire_and_wait(wanted)), "granted");
}

// New users of Redis 7 have no channels.
TEST(RedisServers, WhoMayNotListenIsToldSoWhenItWouldWait) {
  const RedisServer server;
  ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "on", ">secret", "~*", "resetchannels", "+@all"}), "OK");
  RedisClient client("redis://agent:secret@127.0.0.1:" + std::to_string(server.port()));
  client.must_acquire(ann(), "/a");
  AcquireRequest wanted = RedisClient::request(bob(), "/a");
  wanted.wait = 30s;

  EXPECT_EQ(word_for(client.manager->acquire_and_wait(wanted)), "config_error");

  ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "&lease:bell:*"}), "OK");
  wanted.wait = 1ms;
  EXPECT_EQ(word_for(client.manager->acquire_and_wait(wanted)), "timeout");
}

TEST(RedisServers, WhatMayNotBeReadIsNotTakenForFree) {
  const RedisServer server;
  RedisClient(server.url()).must_acquire(ann(), "/a");
  for (const char* command : {"mget", "exists", "watch", "time", "evalsha", "hlen"}) {
    ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "reset", "on", ">secret", "~*", "&*", "+@all",
                           std::string("-") + command}),
              "OK");
    RedisClient client("redis://agent:secret@127.0.0.1:" + std::to_string(server.port()));
    EXPECT_EQ(word_for(client.acquire(bob(), "/a")), "config_error") << command;
  }
}

// Without MULTI each command of a change would be done by itself.
TEST(RedisServers, WhoMayNotUseTransactionsIsRefusedAtOnce) {
  const RedisServer server;
  for (const char* command : {"multi", "exec"}) {
    ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "reset", "on", ">secret", "~*", "&*", "+@all",
                           std::string("-") + command}),
              "OK");
    EXPECT_EQ(code_of("redis://agent:secret@127.0.0.1:" + std::to_string(server.port())), "config_error");
  }
}

TEST(RedisServers, ARightToTransactionsThatIsTakenAwayIsNotToldAsNothingWritten) {
  const RedisServer server;
  ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "on", ">secret", "~*", "&*", "+@all"}), "OK");
  RedisClient client("redis://agent:secret@127.0.0.1:" + std::to_string(server.port()));
  client.must_acquire(ann(), "/a");
  ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "-multi"}), "OK");

  EXPECT_EQ(word_for(client.acquire(ann(), "/b")), "outcome_unknown");
}

TEST(RedisServers, AUserWithoutAPasswordIsNotReplacedByTheDefaultOne) {
  const RedisServer server;
  ASSERT_EQ(server.call({"ACL", "SETUSER", "reader", "on", "nopass", "~*", "&*", "+@all", "-set"}), "OK");
  const std::string host = "redis://127.0.0.1:" + std::to_string(server.port());

  RedisClient client(host + "?user=reader");
  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "config_error");
  EXPECT_EQ(code_of(host + "?user=nobody"), "config_error");
  EXPECT_EQ(code_of(host + "/99999"), "config_error") << "there is no such database";
}

TEST(RedisServers, TlsChecksTheServersNameAndShowsTheClientsCertificate) {
  const Certificates certificates;
  const int port = RedisServer::free_port();
  const RedisServer server(
      {"--tls-port", std::to_string(port), "--tls-cert-file", certificates.file("server.pem"),
       "--tls-key-file", certificates.file("server.key"), "--tls-ca-cert-file", certificates.file("ca.pem")});
  const std::string base = "rediss://127.0.0.1:" + std::to_string(port);
  const std::string ca = "?ca=" + certificates.file("ca.pem");
  const std::string own =
      "&cert=" + certificates.file("client.pem") + "&key=" + certificates.file("client.key");

  RedisClient client(base + ca + own + "&server_name=leases.example");
  EXPECT_EQ(word_for(client.acquire(ann(), "/a")), "granted");
  AcquireRequest wanted = RedisClient::request(bob(), "/a");
  wanted.wait = 30s;
  std::jthread releaser([&] {
    RedisClient other(server.url());
    eventually([&] { return other.waiting() == 1; });
    EXPECT_TRUE(other.release(ann(), "/a"));
  });
  EXPECT_EQ(word_for(client.manager->acquire_and_wait(wanted)), "granted");

  EXPECT_EQ(code_of(base + ca + own), "config_error") << "another server name";
  EXPECT_EQ(code_of(base + "?" + own.substr(1) + "&server_name=leases.example"), "config_error")
      << "no CA that signed it";
  const auto without = open_redis_store(base + ca + "&server_name=leases.example", {});
  ASSERT_FALSE(without) << "no certificate of our own";
  EXPECT_NE(without.error().message.find("?cert=FILE"), std::string::npos) << without.error().message;
  EXPECT_EQ(code_of(base + "?ca=/nowhere"), "config_error");
  EXPECT_NE(code_of("rediss://127.0.0.1:" + std::to_string(server.port())), "opened") << "a port without TLS";
}

// Writing to a connection that is gone raises SIGPIPE, which ends a process that does not expect it.
TEST(RedisServers, AConnectionByTlsThatIsGoneDoesNotEndTheProcess) {
  const Certificates certificates;
  const int port = RedisServer::free_port();
  RedisServer server({"--tls-port", std::to_string(port), "--tls-cert-file", certificates.file("server.pem"),
                      "--tls-key-file", certificates.file("server.key"), "--tls-ca-cert-file",
                      certificates.file("ca.pem"), "--tls-auth-clients", "no"});
  RedisClient client("rediss://127.0.0.1:" + std::to_string(port) + "?ca=" + certificates.file("ca.pem") +
                     "&server_name=leases.example");
  client.must_acquire(ann(), "/a");

  server.kill_hard();

  // Long enough that the second half is written after the server's system said no to the first.
  AcquireRequest request = RedisClient::request(ann(), "/b");
  for (int i = 0; i < 999; ++i)
    request.paths.push_back({.path = "/" + std::string(2000, 'x') + std::to_string(i)});
  EXPECT_EQ(word_for(client.manager->acquire(request)), "unavailable");
}

}  // namespace
}  // namespace leasehold
