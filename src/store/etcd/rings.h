// What comes with the ring of a bell: the grant itself, so that the one it is for need not read it; and who
// is next in line, so that whoever gives a path back reads at once what it takes to let that one go.
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
#include <vector>

#include "leasehold/lease.h"
#include "store/records.h"

namespace leasehold::etcd {

struct NextInLine {
  std::string workspace;
  std::string path;
  std::string owner;            // As Keys::owner_text(). Empty: nobody.
  std::vector<LeaseId> leases;  // That it waits for.
};

struct Ring {
  std::optional<Ticket> ticket;  // Nothing: there is more to be told than this, and it has to be read.
  std::vector<Lease> leases;     // That the ticket has got.
  NextInLine next;
  std::int64_t revision = 0;  // Of the commit.
};

// As it stands under the bell's key: parts, each with its kind in front and a NUL behind.
std::string to_text(const Ring& ring);
Ring ring_from(std::string_view text);

// Rings that were heard and that nobody has asked for. Thread-safe.
class Rings {
 public:
  // As it stood under the bell's key, at that revision.
  void note(const GroupId& ticket, std::string text, std::int64_t revision);
  // Nothing: there was none just now.
  std::optional<Ring> take(const GroupId& ticket);
  void forget(const GroupId& ticket);

  void note_next(const NextInLine& next);
  // Told once: by then it gets its turn.
  NextInLine take_next(const std::string& workspace, const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;
  struct Heard {
    std::string text;
    std::int64_t revision;
    Clock::time_point at;
  };

  std::mutex mutex_;                                                // Guards what follows.
  std::unordered_map<std::string, Heard> heard_;                    // By ticket.
  std::map<std::pair<std::string, std::string>, NextInLine> next_;  // By workspace and path.
};

}  // namespace leasehold::etcd
