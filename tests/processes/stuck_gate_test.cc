// A process that stops inside the gate for longer than others can wait.
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <csignal>
#include <cstddef>
#include <iterator>

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

// Stops whoever wants to write to a file at a place: for a lone process that is the log's index.
void stop_at_first_write() {
  struct sigaction stop{};
  stop.sa_handler = [](int) { raise(SIGSTOP); };
  sigaction(SIGSYS, &stop, nullptr);
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(steps), .filter = steps};
  LEASEHOLD_CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  LEASEHOLD_CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

// Outside the gate, and readers need the index as well.
TEST(StuckRecovery, IsAnErrorThatNamesTheProcessAndPasses) {
  const TempFolder temp;
  const std::string folder = temp.path() + "/store";
  {
    Client client(folder);
    ASSERT_TRUE(client.manager.acquire(request(this_process(client, "ann"), {"/a"})));
  }
  Child stopped([&] {
    stop_at_first_write();
    const Client client(folder);
    return std::string();
  });
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(stopped.pid()), &info, WSTOPPED | WEXITED | WNOWAIT), 0);
  ASSERT_EQ(info.si_code, CLD_STOPPED);

  const BoottimeClock clock;
  const auto opened = open_sqlite_store(
      {.folder = folder, .machine_id = "m", .boot_id = read_machine().boot_id, .gate_timeout = 300ms}, clock);

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::unavailable);
  const std::string& message = opened.error().message;
  EXPECT_NE(message.find(fmt::format("process {} (", stopped.pid())), std::string::npos) << message;
  EXPECT_NE(message.find(fmt::format("kill -CONT {}", stopped.pid())), std::string::npos) << message;

  stopped.kill();
  stopped.reap();
  Client client(folder);
  EXPECT_EQ(client.manager.board()->rows.size(), 1U);
}

}  // namespace
}  // namespace leasehold::processes
