#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"

namespace leasehold::scenario {

// 5m, 1h30m, 250ms, -10s, 0s. Nothing if it is not a duration.
std::optional<Duration> parse_duration(std::string_view text);

std::string to_text(Duration duration);

}  // namespace leasehold::scenario
