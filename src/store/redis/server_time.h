// What time it is for the server, without asking it again.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "leasehold/lease.h"
#include "util/since_boot.h"

namespace leasehold::redis {

// How long an answer tells what time it is. Clocks of two machines do not go alike, above all while one is
// set right.
inline constexpr std::chrono::seconds kServerTimeKept{20};
inline constexpr int kFasterByPart = 50;

// Thread-safe.
class ServerTime {
 public:
  // The server's answer to what was sent at `sent`, as since_boot().
  void note(Time time, std::chrono::nanoseconds sent) {
    const std::lock_guard lock(mutex_);
    last_ = {time, sent};
  }

  // Whatever somebody here has seen or done happened before this.
  void note_seen() {
    const std::lock_guard lock(mutex_);
    if (last_) seen_ = std::max(seen_, now());
  }

  // Of what was done at that moment, and is told from elsewhere. Nothing: it may be older than what this
  // process has seen or believed, or is long ago, or of another clock. Else the time now: not earlier than it
  // is, so that nothing seems to last longer than it does.
  std::optional<Time> believe(Time moment, std::chrono::nanoseconds age_max) {
    const std::lock_guard lock(mutex_);
    if (!last_ || since_boot() - last_->sent > kServerTimeKept) return std::nullopt;
    const Time latest = now();
    if (moment <= seen_ || moment > latest || latest - moment > age_max) return std::nullopt;
    seen_ = moment;
    return latest;
  }

 private:
  struct Answer {
    Time time;
    std::chrono::nanoseconds sent;
  };

  Time now() const {
    const std::chrono::nanoseconds since = since_boot() - last_->sent;
    return last_->time + since + since / kFasterByPart;
  }

  std::mutex mutex_;  // Guards what follows.
  std::optional<Answer> last_;
  Time seen_;
};

// Somebody looks or writes as long as it is there.
class SeenUntilNow {
 public:
  explicit SeenUntilNow(ServerTime& time) : time_(time) {}
  SeenUntilNow(const SeenUntilNow&) = delete;
  SeenUntilNow& operator=(const SeenUntilNow&) = delete;
  ~SeenUntilNow() { time_.note_seen(); }

 private:
  ServerTime& time_;
};

}  // namespace leasehold::redis
