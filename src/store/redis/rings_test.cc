// A grant comes with the ring; whatever happened to it since goes before.
#include "store/json/rings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <sstream>

#include "support/redis_client.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

Owner carol() { return {"carol", "session-c"}; }

struct RedisRing : testing::Test {
  // A place in the queue for /a, and the bell of its ticket.
  GroupId wait_in(RedisClient& client, const Owner& owner) {
    AcquireRequest request = RedisClient::request(owner, "/a");
    request.wait = 1min;
    const auto queued = client.manager->acquire(request);
    EXPECT_EQ(word_for(queued), "queued");
    const GroupId ticket = std::get<Queued>(queued->decision).ticket;
    auto bell = client.store->listen(kWorkspace, ticket);
    EXPECT_TRUE(bell);
    bells.push_back(std::move(*bell));
    return ticket;
  }

  void hear(const Bell& bell) {
    pollfd fd = {bell.fd(), POLLIN, 0};
    ASSERT_EQ(poll(&fd, 1, 10'000), 1);
  }

  // What it finds that does nothing but look.
  std::string look(const GroupId& ticket) {
    std::string found;
    const auto see = [&](View& view) -> Result<void> {
      const Ticket seen = *view.ticket(ticket);
      found = seen.status == Status::pending ? "queued" : "granted";
      for (const LeaseId& id : seen.leases) {
        const auto lease = view.lease(id);
        if (found == "granted" && (!lease || lease->status != Status::active)) found = "lost";
      }
      return {};
    };
    EXPECT_TRUE(waiter.store->view({.workspace = kWorkspace, .owners = {bob()}, .tickets = {ticket}}, see));
    return found;
  }

  // How much of that the server counted meanwhile, without the asking.
  std::int64_t counted(const std::string& what, const std::function<void()>& call) {
    const auto so_far = [&] { return server.number("stats", what + ":"); };
    const std::int64_t first = so_far();
    const std::int64_t asking = so_far() - first;
    call();
    return so_far() - first - 2 * asking;
  }

  RedisServer server;
  RedisClient holder{server.url()};
  RedisClient waiter{server.url()};
  std::vector<std::unique_ptr<Bell>> bells;
};

// Unless it cannot be sure that the ring is newer than what it saw last.
TEST_F(RedisRing, WhoHeardItKnowsWhatItGotWithoutAsking) {
  EXPECT_TRUE(eventually([&] {
    holder.must_acquire(ann(), "/a");
    const GroupId ticket = wait_in(waiter, bob());
    EXPECT_TRUE(holder.release(ann(), "/a"));
    hear(*bells.back());
    std::vector<std::string> held;
    const auto see = [&](View& view) -> Result<void> {
      const Ticket seen = *view.ticket(ticket);
      for (const LeaseId& id : seen.leases) held.push_back(view.lease(id)->path);
      return {};
    };
    const auto commands = counted("total_commands_processed", [&] {
      EXPECT_TRUE(waiter.store->view({.workspace = kWorkspace, .owners = {bob()}, .tickets = {ticket}}, see));
    });
    EXPECT_EQ(held, std::vector<std::string>{"/a"});
    EXPECT_TRUE(waiter.release(bob(), "/a"));
    return commands == 0;
  }));
}

TEST_F(RedisRing, IsBelievedOnce) {
  holder.must_acquire(ann(), "/a");
  const GroupId ticket = wait_in(waiter, bob());
  ASSERT_TRUE(holder.release(ann(), "/a"));
  hear(*bells.front());
  ASSERT_EQ(look(ticket), "granted");
  ASSERT_TRUE(holder.release(bob(), "/a"));

  EXPECT_EQ(look(ticket), "lost");
}

TEST_F(RedisRing, IsOldOnceThisProcessHasSeenMore) {
  holder.must_acquire(ann(), "/a");
  const GroupId ticket = wait_in(waiter, bob());
  ASSERT_TRUE(holder.release(ann(), "/a"));
  hear(*bells.front());
  ASSERT_TRUE(waiter.release(bob(), "/a"));

  EXPECT_EQ(look(ticket), "lost");
}

TEST_F(RedisRing, OfOneWhoHasANoticeIsNoAnswer) {
  holder.must_acquire(ann(), "/a");
  const Lease lost = waiter.must_acquire(bob(), "/b");
  const GroupId ticket = wait_in(waiter, bob());
  ASSERT_TRUE(holder.manager->force_release(
      {.actor = "op", .which = {.ids = {lost.id}}, .reason = "needed", .recall = {}}));
  ASSERT_TRUE(holder.release(ann(), "/a"));
  hear(*bells.front());

  const auto answer = waiter.manager->poll({{.owner = bob()}}, ticket);

  ASSERT_EQ(word_for(answer), "granted");
  EXPECT_EQ(answer->notices.size(), 1U);
}

TEST_F(RedisRing, IsOfItsWorkspaceOnly) {
  holder.must_acquire(ann(), "/a");
  const GroupId ticket = wait_in(waiter, bob());
  ASSERT_TRUE(holder.release(ann(), "/a"));
  hear(*bells.front());

  const auto see = [&](View& view) -> Result<void> {
    EXPECT_FALSE(view.ticket(ticket));
    return {};
  };
  EXPECT_TRUE(waiter.store->view({.workspace = "other", .owners = {bob()}, .tickets = {ticket}}, see));
}

// They share the server's channels.
TEST_F(RedisRing, IsOfItsDatabaseOnly) {
  holder.must_acquire(ann(), "/a");
  const GroupId ticket = wait_in(waiter, bob());
  std::istringstream keys(server.call({"KEYS", "*"}));
  for (std::string key; std::getline(keys, key);)
    EXPECT_EQ(server.call({"COPY", key, key, "DB", "1"}), "1") << key;
  RedisClient elsewhere(server.url(1));
  ASSERT_TRUE(elsewhere.release(ann(), "/a"));
  hear(*bells.front());

  EXPECT_EQ(look(ticket), "queued");
}

TEST_F(RedisRing, IsOfItsTicketOnly) {
  holder.must_acquire(ann(), "/a");
  const GroupId first = wait_in(holder, carol());
  const GroupId second = wait_in(waiter, bob());
  ASSERT_TRUE(holder.release(ann(), "/a"));
  Ring ring = {.origin = fmt::format("0/{{{}}}:lease:", kWorkspace)};
  const auto see = [&](View& view) -> Result<void> {
    ring.ticket = view.ticket(first);
    ring.leases = {*view.lease(ring.ticket->leases.front())};
    return {};
  };
  ASSERT_TRUE(holder.store->view({.workspace = kWorkspace, .tickets = {first}}, see));
  server.call({"PUBLISH", "lease:bell:" + second.text, to_text(ring)});
  hear(*bells.back());

  EXPECT_EQ(look(second), "queued");
}

// A look that reads on reads all of one moment.
TEST_F(RedisRing, IsNotMixedWithWhatIsRead) {
  holder.must_acquire(ann(), "/a");
  const GroupId ticket = wait_in(waiter, bob());
  ASSERT_TRUE(holder.release(ann(), "/a"));
  hear(*bells.front());
  ASSERT_TRUE(holder.release(bob(), "/a"));
  holder.must_acquire(carol(), "/a");

  std::vector<std::string> holders;
  const auto see = [&](View& view) -> Result<void> {
    holders.clear();
    const Ticket seen = *view.ticket(ticket);
    for (const LeaseId& id : seen.leases) {
      if (const auto lease = view.lease(id); lease && lease->status == Status::active)
        holders.push_back(lease->holder.owner.agent_id);
    }
    for (const Lease& lease : view.leases_at({"/a", false})) holders.push_back(lease.holder.owner.agent_id);
    return {};
  };
  EXPECT_TRUE(waiter.store->view({.workspace = kWorkspace, .owners = {bob()}, .tickets = {ticket}}, see));
  EXPECT_EQ(holders, std::vector<std::string>{"carol"});
}

TEST_F(RedisRing, WhatSomebodyElseSentInItsPlaceIsNoAnswer) {
  holder.must_acquire(ann(), "/a");
  const GroupId ticket = wait_in(waiter, bob());
  for (const std::string text : {"1", "t{}", "tl"}) {
    EXPECT_EQ(server.call({"PUBLISH", "lease:bell:" + ticket.text, text}), "1");
    hear(*bells.front());
    EXPECT_EQ(look(ticket), "queued") << text;
  }
}

// Whoever was told who comes behind it asks for that one at once: a trip to read, and one to write.
TEST_F(RedisRing, SaysWhoIsNext) {
  RedisClient last(server.url());
  EXPECT_TRUE(eventually([&] {
    holder.must_acquire(ann(), "/a");
    const GroupId second = wait_in(waiter, bob());
    const Bell& its_bell = *bells.back();
    const GroupId third = wait_in(last, carol());
    EXPECT_TRUE(holder.release(ann(), "/a"));
    hear(its_bell);
    EXPECT_EQ(look(second), "granted");
    const auto trips = counted("total_reads_processed", [&] { EXPECT_TRUE(waiter.release(bob(), "/a")); });
    EXPECT_EQ(word_for(last.manager->poll({{.owner = carol()}}, third)), "granted");
    EXPECT_TRUE(last.release(carol(), "/a"));
    return trips == 2;
  }));
}

}  // namespace
}  // namespace leasehold
