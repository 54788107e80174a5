#pragma once

#include <string>

#include "hook/hook.h"
#include "leasehold/result.h"

namespace leasehold {

// Two sessions of an agent want to write one file. What the project at `root` has the host run before a write
// is run as the host does, with the reports it would make; but the file lies in a project of its own, with a
// store of its own, which is gone afterwards. Returns what the second one was told.
//
// Errors: config_error (the host asks nobody before a write), unavailable (the command cannot be run, or
// fails; or the first was refused as well, and why), corrupt (the second was let through).
Result<std::string> rehearse(const std::string& root, HookHost host, const Variables& variables);

}  // namespace leasehold
