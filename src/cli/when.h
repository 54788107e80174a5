#pragma once

#include <string_view>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

// A moment as people write it: 1h (ago), or 2026-11-15T08:00:00Z. Error: invalid_argument, naming the option.
Result<WallTime> parse_when(std::string_view text, std::string_view option);

}  // namespace leasehold
