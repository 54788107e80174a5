// The texts of a command, laid out for a terminal.
#pragma once

#include <string>

#include "cli/command.h"

namespace leasehold {

std::string overview_text();
std::string help_text(const Command& command);

// The forms of the command line, each with its "lease NAME".
std::string usage_text(const Command& command);

}  // namespace leasehold
