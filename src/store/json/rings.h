// Rings as text, and those that were heard.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "leasehold/lease.h"
#include "store/ring.h"

namespace leasehold {

// What a bell is rung with. Of any other text, nothing is told.
std::string to_text(const Ring& ring);
Ring ring_from(std::string_view text);

// Rings that were heard and that nobody has asked for. Thread-safe.
class Rings {
 public:
  void note(const GroupId& ticket, std::string text, std::int64_t revision = 0);
  // Nothing: there was none just now, or a later one was taken before.
  std::optional<Ring> take(const GroupId& ticket);
  void forget(const GroupId& ticket);

  // As the rings that were taken say. Told once: by then it gets its turn.
  NextInLine take_next(const std::string& workspace, const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;
  struct Heard {
    std::string text;
    std::int64_t revision;
    Clock::time_point at;
  };

  std::mutex mutex_;                                                // Guards what follows.
  std::int64_t told_ = 0;                                           // The greatest revision of those taken.
  std::unordered_map<std::string, Heard> heard_;                    // By ticket.
  std::map<std::pair<std::string, std::string>, NextInLine> next_;  // By workspace and path.
};

}  // namespace leasehold
