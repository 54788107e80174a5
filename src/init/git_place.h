#pragma once

#include <optional>
#include <string>

#include "init/git_hooks.h"
#include "leasehold/result.h"

namespace leasehold {

// A value of the repository's own configuration, as git tells it. Nothing: it is not set.
std::optional<std::string> git_value(const std::string& root, const std::string& name);

// Errors: unavailable.
Result<void> set_git_section(const std::string& root, const GitSection& section);

}  // namespace leasehold
