#pragma once

#include <mutex>
#include <set>
#include <string>

namespace leasehold {

// Rooms that refuse everybody while they are busy, before the store is even asked. Known to the
// process that serves them, and to no other. Thread-safe.
class Rooms {
 public:
  void set_busy(const std::string& room, bool busy) {
    const std::lock_guard lock(mutex_);
    if (busy) {
      busy_.insert(room);
    } else {
      busy_.erase(room);
    }
  }

  bool is_busy(const std::string& room) const {
    const std::lock_guard lock(mutex_);
    return busy_.contains(room);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> busy_;
};

}  // namespace leasehold
