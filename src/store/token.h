// How stores that count draw tokens.
#pragma once

#include <algorithm>
#include <chrono>

#include "leasehold/lease.h"

namespace leasehold {

// JSON carries integers below this exactly.
inline constexpr std::uint64_t kTokenEnd = std::uint64_t{1} << 53;

// The token after `last`. Microseconds since the Unix epoch are its floor, so that a store which lost its
// data still draws higher ones. A clock that says "before 1970" is no floor; one set to the year 2255 or
// later must not use up the tokens there are, so a trillion are left to count on.
inline Token token_after(Token last, WallTime wall) {
  constexpr std::int64_t kHighestFloor = static_cast<std::int64_t>(kTokenEnd - (std::uint64_t{1} << 40));
  const std::int64_t floor = std::clamp<std::int64_t>(wall.time_since_epoch().count(), 0, kHighestFloor);
  return {std::max(last.value + 1, static_cast<std::uint64_t>(floor))};
}

}  // namespace leasehold
