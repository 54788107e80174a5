// A process that stops inside the gate for longer than others can wait.
#include <fmt/format.h>

#include <csignal>

#include "processes/client.h"

namespace leasehold::processes {
namespace {

TEST(StuckGate, IsAnErrorThatNamesTheProcessAndPasses) {
  const TempFolder temp;
  const std::string folder = temp.path() + "/store";
  const Child stopped([&] {
    Client client(folder);
    const auto done =
        client.store().transact({.workspace = kWorkspace}, [](Transaction& transaction) -> Result<void> {
          transaction.put(make_lease(1, "/a"));
          raise(SIGSTOP);
          return {};
        });
    return std::string(done ? "done" : done.error().message);
  });
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(stopped.pid()), &info, WSTOPPED | WNOWAIT), 0);
  Client client(folder, 300ms);
  const Caller caller = this_process(client, "ann");

  // Reading needs no gate.
  EXPECT_TRUE(client.manager.board());
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = client.manager.acquire(request(caller, {"/b"}));
    const auto took = std::chrono::steady_clock::now() - begin;
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::unavailable);
    EXPECT_NE(
        answer.error().message.find(fmt::format("process {} (sqlite_process_) is inside", stopped.pid())),
        std::string::npos)
        << answer.error().message;
    EXPECT_NE(answer.error().message.find(fmt::format("kill -CONT {}", stopped.pid())), std::string::npos);
    EXPECT_LT(took, 2s);
  }

  kill(stopped.pid(), SIGCONT);
  EXPECT_EQ(stopped.answer(), "done");
  EXPECT_TRUE(client.manager.acquire(request(caller, {"/b"})));
  EXPECT_EQ(client.manager.board()->rows.size(), 2U);
}

TEST(StuckGate, OpensWhenItsHolderIsKilledAndNothingOfItIsKept) {
  const TempFolder temp;
  const std::string folder = temp.path() + "/store";
  Child stopped([&] {
    Client client(folder);
    (void)client.store().transact({.workspace = kWorkspace}, [](Transaction& transaction) -> Result<void> {
      for (int i = 0; i < 5'000; ++i) transaction.put(make_lease(i, fmt::format("/a/{}", i)));
      raise(SIGSTOP);
      return {};
    });
    return std::string();
  });
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(stopped.pid()), &info, WSTOPPED | WNOWAIT), 0);
  Client client(folder, 300ms);
  ASSERT_FALSE(client.manager.sweep());

  stopped.kill();
  stopped.reap();

  EXPECT_TRUE(client.manager.sweep());
  EXPECT_EQ(client.manager.board()->rows.size(), 0U);
}

}  // namespace
}  // namespace leasehold::processes
