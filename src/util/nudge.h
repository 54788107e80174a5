#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

namespace leasehold {

// Wakes one thread, now or when it next waits. Thread-safe.
class Nudge {
 public:
  Nudge() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Nudge(const Nudge&) = delete;
  Nudge& operator=(const Nudge&) = delete;
  ~Nudge() {
    if (fd_ >= 0) close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }  // False: no descriptors were left.
  int fd() const { return fd_; }             // Readable once given.

  void give() { eventfd_write(fd_, 1); }

  void take() {
    eventfd_t ignored = 0;
    eventfd_read(fd_, &ignored);
  }

  // False: not given within that time.
  bool wait(std::chrono::milliseconds at_most) const {
    pollfd watched = {fd_, POLLIN, 0};
    const auto limit = std::clamp<std::chrono::milliseconds::rep>(at_most.count(), 0, INT_MAX);
    return poll(&watched, 1, static_cast<int>(limit)) > 0;
  }

 private:
  int fd_;
};

}  // namespace leasehold
