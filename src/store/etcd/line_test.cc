// Those who wait for a path do not disturb each other: what cannot change a decision does not make it be made
// again. What can does, each kind of it.
#include <gtest/gtest.h>

#include <functional>

#include "support/etcd_client.h"
#include "support/etcd_cluster.h"
#include "support/forwarding_store.h"

namespace leasehold {
namespace {

// Lets somebody else act between a body and its commit, the first time.
class InterruptedStore final : public ForwardingStore {
 public:
  explicit InterruptedStore(Store& target) : ForwardingStore(target) {}

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    return ForwardingStore::transact(footprint, [&](Transaction& transaction) -> Result<void> {
      const Result<void> done = body(transaction);
      if (++runs == 1) meanwhile();
      return done;
    });
  }

  std::function<void()> meanwhile;
  int runs = 0;
};

class NoProbe final : public LivenessProbe {
 public:
  Verdict look_at(const Process&) override { return {}; }
};

Owner cyd() { return {"cyd", "session-c"}; }
Owner dan() { return {"dan", "session-d"}; }
Owner eve() { return {"eve", "session-e"}; }

class EtcdLine : public testing::Test {
 protected:
  EtcdLine() { others.must_acquire(ann(), "/src/a"); }

  static AcquireRequest waiting(const Owner& owner, const std::string& path = "/src/a") {
    AcquireRequest request = EtcdClient::request(owner, path);
    request.wait = 60s;
    return request;
  }

  static AcquireRequest reading(const Owner& owner) {
    AcquireRequest request = waiting(owner);
    request.mode = Mode::shared;
    return request;
  }

  void queue(const AcquireRequest& request) {
    const auto answer = others.manager->acquire(request);
    ASSERT_EQ(word_for(answer), "queued");
    tickets_[request.caller.holder.owner] = std::get<Queued>(answer->decision).ticket;
  }
  void queue(const Owner& owner) { queue(waiting(owner)); }

  void give_up(const Owner& owner) {
    ASSERT_TRUE(others.manager->cancel({{.owner = owner}}, tickets_.at(owner)));
  }

  // How often it is decided what somebody wants while somebody else acts.
  int runs_of(const std::function<void(LeaseManager&)>& wanted, const std::function<void()>& meanwhile) {
    InterruptedStore store(*own.store);
    store.meanwhile = meanwhile;
    LeaseManager manager(Environment{liveness_, random_}, store, kWorkspace, Policy());
    wanted(manager);
    return store.runs;
  }
  int releases(const std::function<void()>& meanwhile) {
    return runs_of(
        [](LeaseManager& manager) {
          EXPECT_TRUE(manager.release({.caller = {{.owner = ann()}}, .which = {.all = true}}));
        },
        meanwhile);
  }
  int queues(const Owner& owner, const std::function<void()>& meanwhile) {
    return runs_of(
        [&](LeaseManager& manager) { EXPECT_EQ(word_for(manager.acquire(waiting(owner))), "queued"); },
        meanwhile);
  }

  std::vector<Lease> held() {
    std::vector<Lease> leases;
    EXPECT_TRUE(others.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
      leases = view.leases_at({"/src/a", false});
      return {};
    }));
    return leases;
  }

  // Who gets the path, one after the other, until nobody waits; each with a greater token.
  std::vector<std::string> turns() {
    std::vector<std::string> agents;
    Token last;
    for (;;) {
      const std::vector<Lease> leases = held();
      if (leases.size() != 1) {
        EXPECT_TRUE(leases.empty()) << "one at a time";
        return agents;
      }
      EXPECT_GT(leases.front().token, last);
      last = leases.front().token;
      agents.push_back(leases.front().holder.owner.agent_id);
      EXPECT_TRUE(others.release(leases.front().holder.owner, "/src/a"));
    }
  }
  using Agents = std::vector<std::string>;

  const std::string url_ = fresh_etcd_url();
  EtcdClient own{url_};
  EtcdClient others{url_};

 private:
  NoProbe liveness_;
  SystemRandom random_;
  std::map<Owner, GroupId> tickets_;
};

TEST_F(EtcdLine, AReleaseDoesNotMindWhoComesBehind) {
  queue(bob());
  EXPECT_EQ(releases([&] { queue(cyd()); }), 1);
  EXPECT_EQ(turns(), Agents({"bob", "cyd"}));
}

TEST_F(EtcdLine, AReleaseMindsWhoComesIfNobodyWaited) {
  EXPECT_EQ(releases([&] { queue(bob()); }), 2);
  EXPECT_EQ(turns(), Agents({"bob"}));
}

TEST_F(EtcdLine, AReleaseMindsWhoGoesAhead) {
  queue(bob());
  AcquireRequest urgent = waiting(cyd());
  urgent.priority = 5;
  EXPECT_EQ(releases([&] { queue(urgent); }), 2);
  EXPECT_EQ(turns(), Agents({"cyd", "bob"}));
}

TEST_F(EtcdLine, AReleaseMindsWhoGoesTogetherWithTheNext) {
  queue(bob());
  AcquireRequest lead = waiting({"lead", bob().session_id});
  lead.caller.whole_session = true;
  EXPECT_EQ(releases([&] { queue(lead); }), 2);
}

TEST_F(EtcdLine, AReleaseMindsThatTheNextOneGaveUp) {
  queue(bob());
  queue(cyd());
  EXPECT_EQ(releases([&] { give_up(bob()); }), 2);
  EXPECT_EQ(turns(), Agents({"cyd"}));
}

TEST_F(EtcdLine, AReleaseMindsThatTheNextOneIsAnotherProcess) {
  queue(bob());
  EXPECT_EQ(
      releases([&] {
        ASSERT_TRUE(others.store->transact({.workspace = kWorkspace}, [&](Transaction& t) -> Result<void> {
          for (Ticket ticket : t.tickets_at({"/src/a", false})) t.put(ticket);
          return {};
        }));
      }),
      2);
  EXPECT_EQ(turns(), Agents({"bob"}));
}

TEST_F(EtcdLine, AReleaseMindsThatTheLeaseWasTakenAway) {
  queue(bob());
  EXPECT_EQ(releases([&] {
              ASSERT_TRUE(others.manager->force_release(
                  {.actor = "root", .which = {.paths = {"/src/a"}}, .reason = "test"}));
            }),
            2);
  EXPECT_EQ(turns(), Agents({"bob"}));
}

TEST_F(EtcdLine, AReleaseThatOnlyReadersFollowMindsWhoComes) {
  queue(reading(bob()));
  EXPECT_EQ(releases([&] { queue(reading(cyd())); }), 2);
}

TEST_F(EtcdLine, WhoComesDoesNotMindWhatHappensInFront) {
  queue(bob());
  queue(dan());
  EXPECT_EQ(queues(cyd(), [&] { ASSERT_TRUE(others.release(ann(), "/src/a")); }), 1);
  EXPECT_EQ(turns(), Agents({"bob", "dan", "cyd"}));
}

TEST_F(EtcdLine, WhoComesDoesNotMindWhoElseComes) {
  queue(bob());
  EXPECT_EQ(queues(cyd(), [&] { queue(dan()); }), 1);
  EXPECT_EQ(turns(), Agents({"ann", "bob", "cyd", "dan"}));
}

TEST_F(EtcdLine, WhoComesMindsReaders) {
  queue(bob());
  EXPECT_EQ(queues(cyd(), [&] { queue(reading(dan())); }), 2);
}

TEST_F(EtcdLine, WhoComesMindsWhoWaitsForSeveral) {
  queue(bob());
  AcquireRequest several = waiting(dan());
  several.paths.push_back({.path = "/src/b"});
  EXPECT_EQ(queues(cyd(), [&] { queue(several); }), 2);
}

TEST_F(EtcdLine, WhoComesMindsWhoWaitsForASession) {
  queue(bob());
  AcquireRequest lead = waiting(dan());
  lead.caller.whole_session = true;
  EXPECT_EQ(queues(cyd(), [&] { queue(lead); }), 2);
}

TEST_F(EtcdLine, WhoComesMindsWhoHoldsSomething) {
  queue(bob());
  others.must_acquire(dan(), "/src/b");
  EXPECT_EQ(queues(cyd(), [&] { queue(dan()); }), 2);
}

// cyd would go before dan, and eve, who waits for dan, did not see that.
TEST_F(EtcdLine, WhoComesMindsThatSomebodyLookedForCycles) {
  queue(bob());
  others.must_acquire(eve(), "/src/b");
  EXPECT_EQ(queues(cyd(),
                   [&] {
                     queue(dan());
                     others.must_acquire(dan(), "/src/c");
                     queue(waiting(eve(), "/src/c"));
                   }),
            2);
}

TEST_F(EtcdLine, WhoComesMindsWhoTakesItOutOfTurn) {
  AcquireRequest reader = EtcdClient::request(dan(), "/src/a");
  reader.mode = Mode::shared;
  reader.priority = 5;
  EXPECT_TRUE(others.release(ann(), "/src/a"));
  AcquireRequest first = EtcdClient::request(ann(), "/src/a");
  first.mode = Mode::shared;
  EXPECT_EQ(word_for(others.manager->acquire(first)), "granted");
  queue(bob());
  EXPECT_EQ(queues(cyd(), [&] { EXPECT_EQ(word_for(others.manager->acquire(reader)), "granted"); }), 2);
}

// Whoever comes first and is written last goes before the one who was written meanwhile, and that one did not
// look for cycles through him: dan waits for eve, eve would wait behind cyd, and cyd behind dan.
TEST_F(EtcdLine, WhoComesClosesNoCycleOfOthers) {
  queue(bob());
  others.must_acquire(eve(), "/src/z");
  queue(waiting(dan(), "/src/z"));
  queue(reading(dan()));
  EXPECT_EQ(queues(cyd(), [&] { queue(reading(eve())); }), 2);
  EXPECT_TRUE(others.release(ann(), "/src/a"));
  EXPECT_TRUE(others.release(bob(), "/src/a"));
  EXPECT_EQ(held().size(), 2u) << "dan and eve read together";
}

TEST_F(EtcdLine, WhoComesMindsThatTheLastOneGaveUp) {
  queue(bob());
  EXPECT_EQ(queues(cyd(), [&] { give_up(bob()); }), 2);
  EXPECT_EQ(turns(), Agents({"ann", "cyd"}));
}

TEST_F(EtcdLine, WhoComesMindsThatTheLastOneGotIt) {
  queue(bob());
  EXPECT_EQ(queues(cyd(), [&] { ASSERT_TRUE(others.release(ann(), "/src/a")); }), 2);
  EXPECT_EQ(turns(), Agents({"bob", "cyd"}));
}

TEST_F(EtcdLine, WhoComesMindsALeaseAbove) {
  queue(bob());
  AcquireRequest folder = waiting(dan(), "/src");
  folder.paths.front().subtree = true;
  EXPECT_EQ(queues(cyd(), [&] { queue(folder); }), 2);
}

// Two who are not in front may close a cycle together: of them one has to see the other.
TEST_F(EtcdLine, WhoComesAndHoldsSomethingMindsWhoElseComes) {
  queue(bob());
  others.must_acquire(cyd(), "/src/b");
  EXPECT_EQ(queues(cyd(), [&] { queue(dan()); }), 2);
  EXPECT_EQ(turns(), Agents({"ann", "bob", "dan", "cyd"}));
}

// Granted by what wakes him, with somebody behind: what it takes to give back is read meanwhile. That may
// take longer than he holds it, so it is tried more than once.
TEST(EtcdForesight, WhoWasWokenGivesBackWithOneCall) {
  const EtcdCluster cluster;
  EtcdClient others(cluster.url());
  EtcdClient own(cluster.url());
  const auto queue = [&](const Owner& owner, const std::string& path) {
    AcquireRequest request = EtcdClient::request(owner, path);
    request.wait = 30s;
    EXPECT_EQ(word_for(others.manager->acquire(request)), "queued");
  };
  int tries = 0;
  const auto calls_of_a_release = [&] {
    const std::string path = "/a" + std::to_string(++tries);
    others.must_acquire(ann(), path);
    std::string got;
    {
      std::jthread waiter([&] {
        AcquireRequest request = EtcdClient::request(bob(), path);
        request.wait = 30s;
        got = word_for(own.manager->acquire_and_wait(request));
      });
      EXPECT_TRUE(eventually([&] { return others.waiting() == 1; }));
      queue(cyd(), path);
      EXPECT_TRUE(others.release(ann(), path));
    }
    EXPECT_EQ(got, "granted");
    queue(dan(), path);
    const double calls = cluster.calls();
    EXPECT_TRUE(own.release(bob(), path));
    const double used = cluster.calls() - calls;
    EXPECT_TRUE(others.release(cyd(), path));
    EXPECT_TRUE(others.release(dan(), path));
    return used;
  };

  EXPECT_TRUE(eventually([&] { return calls_of_a_release() == 1; }));
}

}  // namespace
}  // namespace leasehold
