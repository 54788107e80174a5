#pragma once

#include <string>
#include <vector>

#include "leasehold/result.h"

namespace leasehold {

// Runs a program, found on PATH, in `folder` (empty: here) and returns what it prints; what it complains
// about goes to our standard error. Errors: unavailable (it cannot be run, or says that it failed).
Result<std::string> capture(const std::vector<std::string>& command, const std::string& folder = {});

}  // namespace leasehold
