#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <tuple>

#include "util/descriptor.h"

namespace leasehold {

// Wakes one thread, now or when it next waits. Thread-safe.
//
// A pipe, because the kernel takes who writes to one for somebody about to sleep, and has the reader run in
// its place instead of waking another core: with an eventfd it took 30 us of a hand-over until that one ran.
class Nudge {
 public:
  Nudge() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    given_ = Descriptor(ends[0]);
    giver_ = Descriptor(ends[1]);
  }

  bool is_open() const { return given_.is_open(); }  // False: no descriptors were left.
  int fd() const { return given_.number(); }         // Readable once given.

  // One that is full is given already.
  void give() { std::ignore = write(giver_.number(), "!", 1); }

  void take() {
    char ignored[64];
    while (read(given_.number(), ignored, sizeof ignored) == sizeof ignored) {
    }
  }

  // False: not given within that time.
  bool wait(std::chrono::milliseconds at_most) const {
    pollfd watched = {fd(), POLLIN, 0};
    const auto limit = std::clamp<std::chrono::milliseconds::rep>(at_most.count(), 0, INT_MAX);
    return poll(&watched, 1, static_cast<int>(limit)) > 0;
  }

 private:
  Descriptor given_;
  Descriptor giver_;
};

}  // namespace leasehold
