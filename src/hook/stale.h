#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hook/seen_files.h"
#include "leasehold/open.h"

namespace leasehold {

// Why a write is to wait although the file is the owner's: another one changed it since this owner last saw
// it. Told once; then what is there counts as seen. Nothing: write. `paths` are absolute, without links.
std::optional<std::string> stale_reason(OpenWorkspace& workspace, SeenFiles& seen, const Owner& owner,
                                        const std::vector<std::string>& paths);

}  // namespace leasehold
