// Connections, as the server sees them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>
#include <optional>

#include "leasehold/lease.h"

namespace leasehold::daemon {

struct Guest {
  std::function<void()> close;  // Ends it, whatever it does.
  bool is_known = false;        // It has shown a credential that lets it in.
  bool is_idle = true;          // Nothing it asked for is being done.
  bool is_asking = false;       // A request has begun to arrive.
  bool is_told = false;         // A piece of a stream is being written to it that is no answer.
  bool is_cut = false;          // It was closed to make room.
  // While what it asked for is being done: whether its credential counts still, and when that will be over.
  std::function<bool()> may_stay = {};
  std::optional<WallTime> until = {};
  std::function<void()> cut = {};  // Whoever looks finds that it has hung up.
};

// Whether there is room for one more, with so many at most. Strangers who have nothing done for them leave,
// the one who came first before others: they must not keep out who has a credential.
inline bool has_room(std::list<Guest>& guests, std::size_t most) {
  if (guests.size() < most) return true;
  const auto stranger = std::ranges::find_if(guests, [](const Guest& guest) {
    return !guest.is_known && !guest.is_cut && (guest.is_idle || guest.is_asking);
  });
  if (stranger == guests.end()) return false;
  stranger->is_cut = true;
  stranger->close();  // Its place is free as soon as it notices.
  return true;
}

}  // namespace leasehold::daemon
