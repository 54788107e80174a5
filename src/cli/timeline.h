#pragma once

#include <optional>
#include <span>

#include "cli/output.h"
#include "leasehold/calls.h"

namespace leasehold {

// One row per file, with blocks of time for each agent; or the stays as a document.
// `since`: nothing that was over before it.
void print_timeline(const Output& out, std::span<const Event> events, const std::optional<WallTime>& since);

}  // namespace leasehold
