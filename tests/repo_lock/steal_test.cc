// The race of plain remove-and-retry: two read the same stale lock, one takes it over, and the other removes
// what that one has just made. Both believe they have it.
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <new>

#include "env/child.h"
#include "repo_lock/lock_place.h"

namespace leasehold {
namespace {

constexpr int kStealers = 4;
constexpr int kRounds = 3'000;

// What the processes share.
struct Arena {
  pthread_barrier_t barrier;
  std::atomic<bool> is_over = false;
  std::array<std::atomic<bool>, kStealers> has_won{};

  Arena() {
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&barrier, &shared, kStealers + 1);
  }
  void meet() { pthread_barrier_wait(&barrier); }

  static Arena& make() {
    void* memory = mmap(nullptr, sizeof(Arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return *new (memory) Arena();
  }
};

// Tries to take the lock, and says whether it did; `give_back` ends the round.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual bool take() = 0;
  virtual void give_back() = 0;
};

class WithGuard final : public Contender {
 public:
  explicit WithGuard(const LockPlace& place) : lock_{.data_dir = place.data_dir()} {}
  bool take() override {
    answer_.emplace(lock_.lock(kRepo, "steal"));
    return is_granted(*answer_);
  }
  void give_back() override { answer_.reset(); }

 private:
  RepoLock lock_;
  std::optional<Result<RepoLockAnswer>> answer_;
};

// The bug: it decides and removes with nothing to keep others from doing the same.
class WithoutGuard final : public Contender {
 public:
  explicit WithoutGuard(const LockPlace& place) : path_(place.path()) {}
  bool take() override {
    for (int round = 0; round < 3; ++round) {
      const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (file >= 0) {
        const std::string text = fmt::format(R"({{"pid":{}}})", getpid());
        const bool written = write(file, text.data(), text.size()) > 0;
        close(file);
        return written;
      }
      const auto found = read_file(path_, 4096);
      if (!found || !found->contains("\"stale\"")) return false;
      unlink(path_.c_str());
    }
    return false;
  }
  void give_back() override { unlink(path_.c_str()); }

 private:
  std::string path_;
};

struct Tally {
  int rounds = 0;
  int without_winner = 0;
  int with_several = 0;
};

template <class Kind>
Tally contest(const LockPlace& place, bool stop_at_several) {
  Child dead([] { return std::string(); });
  dead.reap();
  Arena& arena = Arena::make();
  std::deque<Child> stealers;
  for (std::size_t i = 0; i < kStealers; ++i) {
    stealers.emplace_back([&, i] {
      Kind contender(place);
      for (;;) {
        arena.meet();
        if (arena.is_over) return std::string();
        arena.has_won[i] = contender.take();
        arena.meet();
        arena.meet();
        contender.give_back();
        arena.meet();
      }
    });
  }
  Tally tally;
  while (tally.rounds < kRounds && !(stop_at_several && tally.with_several > 0)) {
    place.write(
        fmt::format(R"({{"pid":{},"created_at":"{}","cmd":"stale"}})", dead.pid(), to_rfc3339(place.now)));
    arena.meet();
    arena.meet();
    const auto winners = std::ranges::count_if(arena.has_won, [](const auto& won) { return won.load(); });
    arena.meet();
    arena.meet();
    ++tally.rounds;
    tally.without_winner += winners == 0;
    tally.with_several += winners > 1;
  }
  arena.is_over = true;
  arena.meet();
  for (const Child& stealer : stealers) stealer.wait();
  return tally;
}

TEST(Steal, FourProcessesAtOneStaleLockHaveOneWinner) {
  const LockPlace place;

  const Tally tally = contest<WithGuard>(place, false);

  EXPECT_EQ(tally.rounds, kRounds);
  EXPECT_EQ(tally.with_several, 0);
  EXPECT_EQ(tally.without_winner, 0);
  EXPECT_FALSE(place.has_lock()) << "the last winner gave it back";
}

TEST(Steal, WithoutTheGuardThisTestSeesSeveralWinners) {
  const LockPlace place;

  const Tally tally = contest<WithoutGuard>(place, true);

  EXPECT_GT(tally.with_several, 0) << "in " << tally.rounds << " rounds";
}

}  // namespace
}  // namespace leasehold
