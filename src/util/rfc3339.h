// Moments as RFC 3339 writes them: 2026-11-15T08:47:11.123456Z.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold {

// In UTC, with microseconds.
std::string to_rfc3339(std::chrono::sys_time<std::chrono::microseconds> moment);

// Any offset from UTC, any number of digits of a second (those after the sixth are dropped). Total: nothing
// for whatever is not such a moment.
std::optional<std::chrono::sys_time<std::chrono::microseconds>> parse_rfc3339(std::string_view text);

}  // namespace leasehold
