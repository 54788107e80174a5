// Many processes want the same few files in Redis while some of them are killed, and in the end the server
// too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "env/child.h"
#include "processes/replay.h"
#include "support/contended_request.h"
#include "support/redis_client.h"
#include "support/redis_server.h"
#include "support/shared_memory.h"

namespace leasehold {
namespace {

constexpr int kWorkers = 6;
constexpr Duration kTtl = 300ms;

// What the processes tell each other.
struct Board {
  std::atomic<bool> stop;
  std::atomic<bool> trouble;  // The server may be away.
  std::atomic<int> grants;
  std::atomic<int> refusals;
  std::atomic<int> errors;
  char error[512];  // The last one.
};

class Worker {
 public:
  Worker(const std::string& url, std::string name, unsigned seed, Board& board)
      : client_(url, {.connect_timeout = 5s, .command_timeout = 5s}),
        name_(std::move(name)),
        dice_(seed),
        board_(board) {}

  void run() {
    while (!board_.stop) {
      const std::string session = fmt::format("session-{}", troubles_);
      const AcquireRequest wanted = contended_request(dice_, {{.owner = {name_, session}}}, kTtl, 500ms);
      const auto answer = client_.manager->acquire_and_wait(wanted);
      if (!answer) {
        complain(answer.error());
      } else if (const auto* granted = std::get_if<Granted>(&answer->decision)) {
        ++board_.grants;
        if (granted->leases.size() != wanted.paths.size())
          complain({Code::corrupt, "a part of what was asked for"});
        usleep(static_cast<useconds_t>(roll(dice_, 2'000)));
        const auto released = client_.manager->release({.caller = wanted.caller, .which = {.all = true}});
        if (!released) complain(released.error());
      } else {
        ++board_.refusals;
      }
    }
  }

 private:
  // Where the server is killed too, answers may be lost; nothing else may go wrong. What was asked for may be
  // there all the same, or come later, so whoever goes on is another owner.
  void complain(const Error& error) {
    ++troubles_;
    const bool may_be =
        error.code == Code::transaction_conflict ||
        (board_.trouble && (error.code == Code::unavailable || error.code == Code::outcome_unknown));
    if (may_be) {
      ++board_.refusals;
    } else if (board_.errors++ == 0) {
      fmt::format_to_n(board_.error, sizeof board_.error - 1, "{}: {}", info(error.code).name, error.message);
    }
  }

  RedisClient client_;
  const std::string name_;
  Dice dice_;
  int troubles_ = 0;
  Board& board_;
};

void hammer(bool kill_server) {
  RedisServer server({"--appendfsync", "always"});
  const SharedMemory<Board> board;
  board->trouble = kill_server;
  int started = 0;
  int kills = 0;
  Dice dice(11);
  std::array<std::unique_ptr<Child>, kWorkers> workers;
  const auto start = [&](std::unique_ptr<Child>& worker) {
    const std::string name = fmt::format("worker {}", ++started);
    worker = std::make_unique<Child>([&] {
      Worker(server.url(), name, static_cast<unsigned>(started), *board).run();
      return std::string();
    });
  };
  for (auto& worker : workers) start(worker);

  const auto end = std::chrono::steady_clock::now() + 6s;
  int blows = 0;
  while (std::chrono::steady_clock::now() < end) {
    usleep(static_cast<useconds_t>(1'000 * (10 + roll(dice, 60))));
    auto& victim = workers[static_cast<std::size_t>(roll(dice, kWorkers))];
    victim->kill();
    victim->reap();
    ++kills;
    if (kill_server && ++blows % 20 == 0) {
      server.kill_hard();
      server.start();
    }
    start(victim);
  }
  board->stop = true;
  for (auto& worker : workers) {
    ASSERT_TRUE(eventually([&] {
      siginfo_t info{};
      return waitid(P_PID, static_cast<id_t>(worker->pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
             info.si_pid == worker->pid();
    })) << "a worker hangs";
  }
  EXPECT_EQ(board->errors, 0) << board->error;

  RedisClient client(server.url());
  processes::Replay replay;
  const auto follow = [&] {
    std::optional<std::string> wrong;
    const auto looked = client.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
      wrong = replay.follow(view);
      return {};
    });
    return looked ? wrong : looked.error().message;
  };
  ASSERT_EQ(follow(), std::nullopt) << "before anybody tidied up";

  // The leases and waits of the killed end by their time.
  EXPECT_TRUE(eventually([&] { return client.is_quiet(); })) << "somebody still holds, or waits";
  EXPECT_EQ(follow(), std::nullopt);
  EXPECT_EQ(replay.find_stranded(), std::nullopt);
  EXPECT_GE(replay.grants(), static_cast<std::size_t>(board->grants.load()));

  // No index may lead to what is gone.
  for (const char* pattern : {"*lease:file:*", "*lease:owner:*", "*lease:agent:*", "*lease:session:*",
                              "*lease:queue:*", "*lease:waits:*", "*lease:paths", "*lease:waiting"}) {
    EXPECT_EQ(server.call({"KEYS", pattern}), "");
  }
  std::printf("%zu events, %zu grants, %zu waits, %d refusals; %d kills\n", replay.events(), replay.grants(),
              replay.waits(), board->refusals.load(), kills);
  EXPECT_GT(replay.grants(), 50U);
}

TEST(RedisHammer, KilledProcessesBreakNoPromise) { hammer(false); }

TEST(RedisHammer, AKilledServerBreaksNoPromiseEither) { hammer(true); }

}  // namespace
}  // namespace leasehold
