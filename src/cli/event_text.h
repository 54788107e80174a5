#pragma once

#include <string>

#include "cli/output.h"
#include "leasehold/calls.h"

namespace leasehold {

// One line with its end.
std::string event_text(const Event& event, const Output& out);

}  // namespace leasehold
