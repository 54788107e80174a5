// Many processes want the same few files while some of them are killed and others stopped.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>

#include "processes/client.h"
#include "processes/replay.h"
#include "store/sqlite/lock_holder.h"
#include "support/contended_request.h"
#include "support/raw_sqlite.h"
#include "support/shared_memory.h"

namespace leasehold::processes {
namespace {

constexpr int kWorkers = 8;
constexpr int kSpared = 4;  // The first ones, who only see what happens to the others.
constexpr Duration kTtl = 100ms;
constexpr Duration kHammering = 4s;

// What the processes tell each other.
struct Shared {
  std::atomic<bool> stop;
  std::atomic<int> grants;
  std::atomic<int> refusals;
  std::atomic<int> errors;
  std::atomic<int> grants_of[kSpared];
  char error[512];  // The last one.
};

// One process's work, until it is told to stop.
class Worker {
 public:
  Worker(const std::string& folder, std::string name, unsigned seed, int place, Shared& shared)
      : client_(folder), name_(std::move(name)), dice_(seed), place_(place), shared_(shared) {}

  void run() {
    while (!shared_.stop) {
      const AcquireRequest wanted = any_request();
      const auto answer = client_.manager.acquire_and_wait(wanted);
      if (!answer) {
        complain(answer.error());
      } else if (const auto* granted = std::get_if<Granted>(&answer->decision)) {
        hold_and_release(wanted, *granted);
      } else if (const Code code = std::get<Refused>(answer->decision).code;
                 code == Code::busy || code == Code::timeout || code == Code::deadlock ||
                 code == Code::lost) {
        ++shared_.refusals;  // Lost: it was granted while this process was stopped, and ran out.
      } else {
        complain({code, "refused"});
      }
    }
  }

 private:
  AcquireRequest any_request() {
    Caller caller = this_process(client_, name_);
    // Of some only their time is known.
    if (roll(dice_, 6) == 0) caller.holder.process.reset();
    return contended_request(dice_, std::move(caller), kTtl, 300ms);
  }

  void hold_and_release(const AcquireRequest& wanted, const Granted& granted) {
    ++shared_.grants;
    if (place_ < kSpared) ++shared_.grants_of[place_];
    if (granted.leases.size() != wanted.paths.size())
      complain({Code::corrupt, "a part of what was asked for"});
    usleep(static_cast<useconds_t>(roll(dice_, 2'000)));
    ReleaseRequest release = {.caller = wanted.caller, .which = {.all = true}};
    if (const auto released = client_.manager.release(release); !released) complain(released.error());
  }

  void complain(const Error& error) {
    if (shared_.errors++ > 0) return;
    fmt::format_to_n(shared_.error, sizeof shared_.error - 1, "{}: {}", info(error.code).name, error.message);
  }

  Client client_;
  const std::string name_;
  Dice dice_;
  const int place_;  // Among the workers.
  Shared& shared_;
};

// Kills and stops workers, and sees to it that there are always as many.
class Tormentor {
 public:
  Tormentor(std::string folder, Shared& shared) : folder_(std::move(folder)), shared_(shared) {
    for (int i = 0; i < kWorkers; ++i) start(i);
  }

  // One blow after each pause, of this length or up to four times as long. Every third is a kill, or all are.
  void run(Duration duration, Duration pause, bool only_kills) {
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end) {
      usleep(static_cast<useconds_t>(1'000 *
                                     (pause.count() + roll(dice_, static_cast<int>(3 * pause.count())))));
      continue_some(std::chrono::steady_clock::now());
      const int number = victim_number();
      const std::unique_ptr<Child>& victim = worker(number);
      if (only_kills || roll(dice_, 3) == 0) {
        victim->kill();
        victim->reap();
        std::erase_if(stopped_, [&](const Stopped& one) { return one.pid == victim->pid(); });
        start(number);
        ++kills;
      } else if (stopped_.size() < 2) {
        // For longer than its leases live.
        ::kill(victim->pid(), SIGSTOP);
        stopped_.push_back(
            {victim->pid(), std::chrono::steady_clock::now() + kTtl + Duration(roll(dice_, 200))});
        ++stops;
      } else if (std::ranges::none_of(stopped_,
                                      [&](const Stopped& one) { return one.pid == victim->pid(); })) {
        ::kill(victim->pid(), SIGCONT);
      }
    }
    continue_some(std::chrono::steady_clock::time_point::max());
  }

  // False: some do not end.
  bool end_all() {
    shared_.stop = true;
    return eventually(
        [&] { return std::ranges::all_of(workers_, [](const auto& one) { return has_ended(*one); }); });
  }

  int kills = 0;
  int stops = 0;
  int inside = 0;  // Of those, when they were inside the gate.

 private:
  struct Stopped {
    pid_t pid;
    std::chrono::steady_clock::time_point until;
  };

  std::unique_ptr<Child>& worker(int number) { return workers_[static_cast<std::size_t>(number)]; }

  void start(int number) {
    const std::string name = fmt::format("worker {}", ++started_);
    worker(number) = std::make_unique<Child>([&] {
      Worker(folder_, name, static_cast<unsigned>(started_), number, shared_).run();
      return std::string();
    });
  }

  // Often the one that is inside the gate. It is stopped to be sure that it does not leave meanwhile.
  int victim_number() {
    if (roll(dice_, 3) != 0) return kSpared + roll(dice_, kWorkers - kSpared);
    for (int tries = 0; tries < 20; ++tries) {
      pid_t pid = 0;
      std::ifstream(folder_ + "/gate") >> pid;
      for (int i = kSpared; i < kWorkers; ++i) {
        if (worker(i)->pid() != pid) continue;
        ::kill(pid, SIGSTOP);
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOWAIT);
        if (sqlite::lock_holder(folder_ + "/gate", "FLOCK") == pid) {
          ++inside;
          return i;
        }
        ::kill(pid, SIGCONT);
      }
      usleep(100);
    }
    return kSpared + roll(dice_, kWorkers - kSpared);
  }

  void continue_some(std::chrono::steady_clock::time_point now) {
    std::erase_if(stopped_, [&](const Stopped& one) {
      if (one.until > now) return false;
      ::kill(one.pid, SIGCONT);
      return true;
    });
  }

  const std::string folder_;
  Shared& shared_;
  Dice dice_{7};
  int started_ = 0;
  std::array<std::unique_ptr<Child>, kWorkers> workers_;
  std::vector<Stopped> stopped_;
};

std::optional<std::string> follow(Client& client, Replay& replay) {
  std::optional<std::string> wrong;
  const auto looked = client.store().view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    wrong = replay.follow(view);
    return {};
  });
  return looked ? wrong : looked.error().message;
}

// What a bystander sees in between: empty if all is well.
std::string observe(const std::string& folder, const Shared& shared) {
  Client client(folder);
  Replay replay;
  while (!shared.stop) {
    if (const auto wrong = follow(client, replay)) return *wrong;
    usleep(20'000);
  }
  return "";
}

void hammer(Duration pause, bool only_kills) {
  const TempFolder temp;
  const std::string folder = temp.path() + "/store";
  const SharedMemory<Shared> shared;
  const Child observer([&] { return observe(folder, *shared); });
  Tormentor tormentor(folder, *shared);

  tormentor.run(kHammering, pause, only_kills);
  ASSERT_TRUE(tormentor.end_all()) << "a worker hangs";

  EXPECT_EQ(observer.answer(), "");
  EXPECT_EQ(shared->errors, 0) << shared->error;
  Client client(folder);
  Replay replay;
  ASSERT_EQ(follow(client, replay), std::nullopt) << "before anybody tidied up";

  // The leases and waits of the killed end by their time, or by their death.
  const auto is_quiet = [&] {
    bool quiet = false;
    (void)client.manager.sweep(true);
    (void)client.store().view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
      quiet = view.leases({}).empty() && view.tickets({}).empty();
      return {};
    });
    return quiet;
  };
  EXPECT_TRUE(eventually(is_quiet)) << "somebody still holds, or waits";
  EXPECT_EQ(follow(client, replay), std::nullopt);
  EXPECT_EQ(replay.find_stranded(), std::nullopt);
  EXPECT_GE(replay.grants(), static_cast<std::size_t>(shared->grants.load()));
  EXPECT_EQ(run_sql(folder + "/leases.db",
                    "PRAGMA integrity_check;"
                    "SELECT * FROM owners; SELECT * FROM ticket_paths"),
            "ok\n");

  std::printf("%zu events, %zu grants, %zu waits, %d refusals; %d kills, %d stops, %d of these at the gate\n",
              replay.events(), replay.grants(), replay.waits(), shared->refusals.load(), tormentor.kills,
              tormentor.stops, tormentor.inside);
  EXPECT_GT(replay.grants(), 100U);
  EXPECT_GT(replay.waits(), 100U);
  EXPECT_GT(tormentor.inside, 0);
  std::vector<int> spared(std::begin(shared->grants_of), std::end(shared->grants_of));
  const auto [slowest, fastest] = std::ranges::minmax(spared);
  std::printf("of the spared the slowest was granted %d, the fastest %d: share %.2f\n", slowest, fastest,
              static_cast<double>(slowest) / fastest);
  EXPECT_GE(2 * slowest, fastest) << "whoever is left in peace shares evenly";
}

TEST(Hammer, KilledProcessesBreakNoPromise) { hammer(5ms, true); }

TEST(Hammer, KilledAndStoppedProcessesBreakNoPromise) { hammer(20ms, false); }

}  // namespace
}  // namespace leasehold::processes
