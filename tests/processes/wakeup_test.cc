// However a lease ends, whoever waits for it in another process is told at once, and nobody else is.
#include <fmt/format.h>

#include <csignal>

#include "processes/client.h"
#include "support/signal.h"

namespace leasehold::processes {
namespace {

constexpr Duration kRung =
    500ms;  // Told by a bell: far less, and well below a second, when it would look anyway.
constexpr Duration kPrompt = 2s;  // Found by looking.
constexpr Duration kLong = 1h;

std::int64_t now_ns() { return BoottimeClock().now().time_since_epoch().count(); }

struct Waited {
  std::string outcome;  // "granted", or what else.
  Duration after{};     // From the end of the lease.
  int rings = 0;        // By the waiter itself.
  int grants = 0;
};

class WakeUp : public testing::Test {
 public:
  // Starts a process that waits for the path once it is told to.
  void start_waiter(const std::string& agent, const std::string& path, Mode mode = Mode::exclusive) {
    waiters_.push_back(std::make_unique<Child>([=, this] {
      go_.wait();
      Client client(folder);
      AcquireRequest wanted = request(this_process(client, agent), {path});
      wanted.mode = mode;
      wanted.wait = 20s;
      wanted.ttl = kLong;
      const auto answer = client.manager.acquire_and_wait(wanted);
      const std::int64_t at = now_ns();
      const bool granted = answer && std::holds_alternative<Granted>(answer->decision);
      return fmt::format("{} {} {} {}", granted ? "granted" : "refused", at, client.counting.rings(),
                         client.counting.grants());
    }));
  }

  // Lets the waiters go, and returns when all of them wait.
  void let_wait(Client& client) const {
    for (std::size_t i = 0; i < waiters_.size(); ++i) go_.give();
    ASSERT_TRUE(eventually([&] {
      std::size_t count = 0;
      (void)client.store().view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
        count = view.tickets({}).size();
        return {};
      });
      return count == waiters_.size();
    }));
    usleep(20'000);  // Until they sleep.
  }

  Waited outcome(std::size_t waiter, std::int64_t ended_ns) const {
    Waited waited;
    std::int64_t at = 0;
    char word[16] = "";
    const std::string answer = waiters_[waiter]->answer();
    std::sscanf(answer.c_str(), "%15s %ld %d %d", word, &at, &waited.rings, &waited.grants);
    waited.outcome = word;
    waited.after = std::chrono::ceil<Duration>(std::chrono::nanoseconds(at - ended_ns));
    return waited;
  }

  // One waiter was granted, soon, and of all the bells that were rung one was for it.
  void expect_one_grant(Client& client, std::int64_t ended_ns, Duration at_most) const {
    const Waited waited = outcome(0, ended_ns);
    EXPECT_EQ(waited.outcome, "granted");
    EXPECT_LT(waited.after, at_most);
    EXPECT_EQ(waited.grants + client.counting.grants(), 1);
    EXPECT_EQ(waited.rings + client.counting.rings(), 1);
    std::printf("granted after %ld ms\n", static_cast<long>(waited.after.count()));
  }

  static Lease hold(Client& client, const Caller& caller, const std::string& path, Duration ttl = kLong) {
    AcquireRequest wanted = request(caller, {path});
    wanted.ttl = ttl;
    const auto answer = client.manager.acquire(wanted);
    LEASEHOLD_CHECK(answer && std::holds_alternative<Granted>(answer->decision));
    return std::get<Granted>(answer->decision).leases[0];
  }

  TempFolder temp;
  const std::string folder = temp.path() + "/store";

 private:
  Signal go_;
  std::vector<std::unique_ptr<Child>> waiters_;
};

TEST_F(WakeUp, AfterARelease) {
  start_waiter("bob", "/a");
  Client client(folder);
  const Caller ann = this_process(client, "ann");
  hold(client, ann, "/a");
  let_wait(client);

  const std::int64_t ended = now_ns();
  ASSERT_TRUE(client.manager.release({.caller = ann, .which = {.paths = {"/a"}}}));

  expect_one_grant(client, ended, kRung);
}

// Nobody is there to ring: the waiter looks when the time is up.
TEST_F(WakeUp, AfterALeaseRanOut) {
  start_waiter("bob", "/a");
  Client client(folder);
  Caller ann = this_process(client, "ann");
  const Lease lease = hold(client, ann, "/a", 500ms);
  let_wait(client);

  expect_one_grant(client, lease.expires_at.time_since_epoch().count(), kPrompt);
}

TEST_F(WakeUp, AfterAForcedRelease) {
  start_waiter("bob", "/a");
  Client client(folder);
  hold(client, this_process(client, "ann"), "/a");
  let_wait(client);

  const std::int64_t ended = now_ns();
  ASSERT_TRUE(
      client.manager.force_release({.actor = "operator", .which = {.paths = {"/a"}}, .reason = "now"}));

  expect_one_grant(client, ended, kRung);
}

// Whoever waits for what it is handed has it.
TEST_F(WakeUp, AfterATransfer) {
  start_waiter("bob", "/a");
  Client client(folder);
  const Caller ann = this_process(client, "ann");
  hold(client, ann, "/a");
  let_wait(client);

  const std::int64_t ended = now_ns();
  Holder bob;
  bob.owner = {"bob", "session"};
  const auto moved =
      client.manager.transfer({.caller = ann, .which = {.paths = {"/a"}}, .to = bob, .note = "yours"});
  ASSERT_TRUE(moved);

  expect_one_grant(client, ended, kRung);
}

TEST_F(WakeUp, AfterADowngrade) {
  start_waiter("bob", "/a", Mode::shared);
  Client client(folder);
  const Caller ann = this_process(client, "ann");
  hold(client, ann, "/a");
  let_wait(client);

  const std::int64_t ended = now_ns();
  ASSERT_TRUE(client.manager.downgrade({.caller = ann, .which = {.paths = {"/a"}}}));

  expect_one_grant(client, ended, kRung);
}

TEST_F(WakeUp, AfterTheOwnersDeath) {
  start_waiter("bob", "/a");
  const Signal holds;
  Child holder([&] {
    Client client(folder);
    hold(client, this_process(client, "ann"), "/a");
    holds.give();
    return Child::rest();
  });
  holds.wait();
  Client client(folder);
  let_wait(client);

  const std::int64_t ended = now_ns();
  holder.kill();
  holder.reap();

  expect_one_grant(client, ended, kPrompt);
}

// A release in time, whose bell is lost with its process between the commit and the ring.
TEST_F(WakeUp, EvenIfTheBellIsLost) {
  start_waiter("bob", "/a");
  Client client(folder);
  const Caller ann = this_process(client, "ann");
  hold(client, ann, "/a");
  let_wait(client);
  ASSERT_EQ(std::rename((folder + "/bells").c_str(), (folder + "/gone").c_str()), 0);

  const std::int64_t ended = now_ns();
  ASSERT_TRUE(client.manager.release({.caller = ann, .which = {.paths = {"/a"}}}));

  expect_one_grant(client, ended, kPrompt);
}

// Three can go at once, and three bells ring; the fourth sleeps on.
TEST_F(WakeUp, RingsForThoseWhoCanGoAndForNobodyElse) {
  for (const char* reader : {"bob", "cyd", "dan"}) start_waiter(reader, "/a", Mode::shared);
  start_waiter("eve", "/b");
  Client client(folder);
  const Caller ann = this_process(client, "ann");
  hold(client, ann, "/a");
  hold(client, ann, "/b");
  let_wait(client);

  const std::int64_t ended = now_ns();
  ASSERT_TRUE(client.manager.release({.caller = ann, .which = {.paths = {"/a"}}}));

  int rings = client.counting.rings();
  EXPECT_EQ(rings, 3);
  EXPECT_EQ(client.counting.grants(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Waited waited = outcome(i, ended);
    EXPECT_EQ(waited.outcome, "granted");
    EXPECT_LT(waited.after, kRung);
    EXPECT_EQ(waited.rings, 0);
  }
  ASSERT_TRUE(client.manager.release({.caller = ann, .which = {.paths = {"/b"}}}));
  EXPECT_EQ(outcome(3, now_ns()).outcome, "granted");
  EXPECT_EQ(client.counting.rings(), 4);
}

}  // namespace
}  // namespace leasehold::processes
