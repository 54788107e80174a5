#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

namespace leasehold {

// A mutex that is taken in the order threads ask for it. std::timed_mutex lets whoever comes back at once go
// before those who wait, again and again. For use with std::lock_guard, or std::unique_lock and a deadline.
class FairMutex {
 public:
  bool try_lock_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock guard(mutex_);
    if (!taken_ && waiting_.empty()) return taken_ = true;
    const std::uint64_t place = next_++;
    waiting_.insert(place);
    const bool got =
        changed_.wait_until(guard, deadline, [&] { return !taken_ && *waiting_.begin() == place; });
    waiting_.erase(place);
    if (got) return taken_ = true;
    changed_.notify_all();  // It may be the turn of the one behind.
    return false;
  }

  void lock() { try_lock_until(std::chrono::steady_clock::time_point::max()); }

  void unlock() {
    const std::lock_guard guard(mutex_);
    taken_ = false;
    if (!waiting_.empty()) changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  std::set<std::uint64_t> waiting_;  // The first goes next.
  bool taken_ = false;
};

}  // namespace leasehold
