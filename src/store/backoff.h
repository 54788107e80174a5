// How long to stay away after a conflict, so that those who met do not meet again at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>

namespace leasehold {

// Thread-safe.
class Backoff {
 public:
  static constexpr std::chrono::microseconds kLongest{20'000};

  // By what differs between clients.
  void seed(unsigned number) { dice_.seed(number); }

  // Sleeps by chance, at most for a time that doubles with each conflict up to the longest.
  void pause(int conflicts) {
    const auto most = std::min(kFirst * (1 << std::min(conflicts, 10)), kLongest);
    std::chrono::microseconds length;
    {
      const std::lock_guard lock(mutex_);
      length = std::chrono::microseconds(std::uniform_int_distribution<std::int64_t>(0, most.count())(dice_));
    }
    std::this_thread::sleep_for(length);
  }

 private:
  static constexpr std::chrono::microseconds kFirst{200};

  std::mutex mutex_;
  std::minstd_rand dice_;
};

}  // namespace leasehold
