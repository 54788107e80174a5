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

constexpr std::size_t kStealers = 4;
constexpr int kRounds = 3'000;

// What the processes share.
struct Arena {
  pthread_barrier_t barrier;
  pthread_barrier_t all_decided;  // Of the stealers alone.
  std::atomic<std::size_t> turn = 0;
  std::atomic<bool> is_over = false;
  std::array<std::atomic<bool>, kStealers> has_won{};

  Arena() {
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&barrier, &shared, kStealers + 1);
    pthread_barrier_init(&all_decided, &shared, kStealers);
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
  WithGuard(const LockPlace& place, Arena& /*arena*/, std::size_t /*index*/)
      : lock_{.data_dir = place.data_dir()} {}
  bool take() override {
    answer_.emplace(lock_.lock(kRepo, "steal"));
    return is_granted(*answer_);
  }
  void give_back() override { answer_.reset(); }

 private:
  RepoLock lock_;
  std::optional<Result<RepoLockAnswer>> answer_;
};

// The bug: it decides and acts with nothing to keep others from doing the same. So that it always shows, all
// decide before the first one acts, and each acts when the one before is done.
class WithoutGuard final : public Contender {
 public:
  WithoutGuard(const LockPlace& place, Arena& arena, std::size_t index)
      : path_(place.path()), arena_(arena), index_(index) {}
  bool take() override {
    const bool is_stale = read_file(path_, 4096).value_or("").contains("\"stale\"");
    pthread_barrier_wait(&arena_.all_decided);
    while (arena_.turn % kStealers != index_) usleep(100);
    if (is_stale) unlink(path_.c_str());
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
    ++arena_.turn;
    return file >= 0;
  }
  void give_back() override { unlink(path_.c_str()); }

 private:
  std::string path_;
  Arena& arena_;
  std::size_t index_;
};

struct Tally {
  int rounds = 0;
  int without_winner = 0;
  int with_several = 0;
};

template <class Kind>
Tally contest(const LockPlace& place, int rounds) {
  Child dead([] { return std::string(); });
  dead.reap();
  Arena& arena = Arena::make();
  std::deque<Child> stealers;
  for (std::size_t i = 0; i < kStealers; ++i) {
    stealers.emplace_back([&, i] {
      Kind contender(place, arena, i);
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
  while (tally.rounds < rounds) {
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

  const Tally tally = contest<WithGuard>(place, kRounds);

  EXPECT_EQ(tally.rounds, kRounds);
  EXPECT_EQ(tally.with_several, 0);
  EXPECT_EQ(tally.without_winner, 0);
  EXPECT_FALSE(place.has_lock()) << "the last winner gave it back";
}

TEST(Steal, WithoutTheGuardThisTestSeesSeveralWinners) {
  const LockPlace place;

  const Tally tally = contest<WithoutGuard>(place, 3);

  EXPECT_EQ(tally.with_several, 3);
}

}  // namespace
}  // namespace leasehold
