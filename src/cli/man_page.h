// Manual pages, from the texts that --help shows.
#pragma once

#include <string>

#include "cli/command.h"

namespace leasehold {

std::string man_page();                        // lease(1)
std::string man_page(const Command& command);  // lease-acquire(1)

}  // namespace leasehold
