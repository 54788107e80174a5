#include "store/etcd/foresight.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "store/etcd/failure.h"

namespace leasehold::etcd {
namespace {

using namespace std::chrono_literals;

// Whoever was woken goes first.
constexpr std::chrono::nanoseconds kAfterTheRing = 500us;

// More than that at once would be read too late.
constexpr std::size_t kTurnsMax = 16;

// Each may have all those in it who wait for a path.
constexpr std::size_t kForeseenMax = 64;

void set_timer(int fd, std::chrono::nanoseconds time) {
  const itimerspec once = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = time.count()}};
  timerfd_settime(fd, 0, &once, nullptr);
}

}  // namespace

Foresight::~Foresight() {
  stop();
  if (timer_ >= 0) close(timer_);
}

void Foresight::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (timer_ >= 0) set_timer(timer_, 1ns);
  }
  if (thread_.joinable()) thread_.join();
}

// Under the mutex. False: it will be read when it is needed.
bool Foresight::is_started() {
  if (timer_ < 0) timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (timer_ < 0) return false;
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Foresight::look_ahead(const Ring& ring) {
  if (!ring.ticket || ring.ticket->status != Status::active || ring.next.owner.agent_id.empty()) return;
  const std::lock_guard lock(mutex_);
  if (stopping_ || turns_.size() >= kTurnsMax || !is_started()) return;
  turns_.push_back({ring.ticket->workspace, ring.next.path, ring.ticket->request->caller.holder.owner});
  set_timer(timer_, kAfterTheRing);
}

std::unique_ptr<Foreseen> Foresight::take(const std::string& owner_area) {
  const std::lock_guard lock(mutex_);
  const auto found = foreseen_.find(owner_area);
  if (found == foreseen_.end()) return nullptr;
  std::unique_ptr<Foreseen> foreseen = std::move(found->second);
  foreseen_.erase(found);
  return foreseen;
}

void Foresight::serve() {
  for (;;) {
    std::uint64_t times = 0;
    std::ignore = ::read(timer_, &times, sizeof times);
    std::vector<Turn> turns;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      turns = std::exchange(turns_, {});
    }
    for (const Turn& turn : turns) read(turn);
  }
}

void Foresight::read(const Turn& turn) {
  auto foreseen = std::make_unique<Foreseen>(shared_, turn.workspace);
  try {
    foreseen->transaction.begin(
        {.workspace = turn.workspace, .scopes = {{turn.path}}, .owners = {turn.owner}, .gives_back = true});
    foreseen->transaction.borrow_ahead();
  } catch (const Conflict&) {
    return;
  } catch (const Failure&) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (foreseen_.size() >= kForeseenMax) foreseen_.clear();
  foreseen_[foreseen->keys.of(turn.owner)] = std::move(foreseen);
}

}  // namespace leasehold::etcd
