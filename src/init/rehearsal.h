#pragma once

#include <string>

#include "hook/hook.h"
#include "leasehold/result.h"

namespace leasehold {

// Two sessions of an agent want to write one scratch file of the workspace at `root`, through the code that
// answers its hooks, on the workspace's own store. Returns what the second one was told; afterwards nothing
// is held.
//
// Errors: unavailable (the file cannot be made; or the first was refused as well, and why), corrupt (the
// second was let through).
Result<std::string> rehearse(const std::string& root, HookHost host, const Variables& variables);

}  // namespace leasehold
