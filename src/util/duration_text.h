#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"

namespace leasehold {

// Three hundred years and more. Nothing overflows when a few of them are added up.
inline constexpr Duration kLongestDuration = std::chrono::hours(24) * 100'000;

// 5m, 1h30m, 250ms, 2d, -10s, 0. Nothing if it is not a duration: a number other than 0 needs its unit. One
// that is longer than anybody lives counts as just that long.
std::optional<Duration> parse_duration(std::string_view text);

// The same the other way round, exactly.
std::string duration_text(Duration duration);

}  // namespace leasehold
