#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <list>
#include <mutex>

#include "leasehold/local_clock.h"

namespace leasehold {

// A local clock that stands still until a test moves it. Who waits is woken when its moment has come.
// Thread-safe.
class ManualLocalClock final : public LocalClock {
 public:
  static constexpr LocalTime kStart{std::chrono::hours(7)};

  LocalTime now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  void wait(LocalTime until, int wake) override {
    const int fd = eventfd(0, EFD_CLOEXEC);
    std::list<Waiter>::iterator waiter;
    {
      const std::lock_guard lock(mutex_);
      waiter = waiters_.insert(waiters_.end(), {until, fd, wake});
      if (now_ >= until) eventfd_write(fd, 1);
    }
    std::array<pollfd, 2> watched = {{{wake, POLLIN, 0}, {fd, POLLIN, 0}}};
    poll(watched.data(), watched.size(), -1);
    const std::lock_guard lock(mutex_);
    waiters_.erase(waiter);
    close(fd);
  }

  void advance(LocalTime::duration by) {
    const std::lock_guard lock(mutex_);
    now_ += by;
    for (const Waiter& waiter : waiters_) {
      if (now_ >= waiter.until) eventfd_write(waiter.fd, 1);
    }
  }

  // True if so many threads wait, and none of them has a reason to go on before time passes.
  bool is_waited_for_by(std::size_t threads) const {
    const std::lock_guard lock(mutex_);
    for (const Waiter& waiter : waiters_) {
      pollfd wake = {waiter.wake, POLLIN, 0};
      if (now_ >= waiter.until || poll(&wake, 1, 0) != 0) return false;
    }
    return waiters_.size() == threads;
  }

 private:
  struct Waiter {
    LocalTime until;
    int fd;
    int wake;
  };

  mutable std::mutex mutex_;
  LocalTime now_ = kStart;
  std::list<Waiter> waiters_;
};

}  // namespace leasehold
