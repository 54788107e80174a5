#pragma once

#include "cli/command.h"

namespace leasehold {

extern const Command kMcp;

}  // namespace leasehold
