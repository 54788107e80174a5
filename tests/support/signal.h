#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>

#include "util/check.h"

namespace leasehold {

// What one process tells another, once for each who waits.
class Signal {
 public:
  Signal() { LEASEHOLD_CHECK(pipe(ends_) == 0); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    close(ends_[0]);
    close(ends_[1]);
  }

  void give() const { LEASEHOLD_CHECK(write(ends_[1], "!", 1) == 1); }

  // False: it was not given in time.
  bool wait(std::chrono::milliseconds at_most = std::chrono::seconds(20)) const {
    pollfd end{ends_[0], POLLIN, 0};
    char byte = 0;
    return poll(&end, 1, static_cast<int>(at_most.count())) == 1 && read(ends_[0], &byte, 1) == 1;
  }

 private:
  int ends_[2];
};

}  // namespace leasehold
