#pragma once

#include <optional>
#include <vector>

#include "cli/output.h"
#include "cli/past.h"

namespace leasehold {

// One row per file, with blocks of time for each agent; or the stays as a document.
// `since`: nothing that was over before it.
void print_timeline(const Output& out, std::vector<Stay> all, const std::optional<WallTime>& since);

}  // namespace leasehold
