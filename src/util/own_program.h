#pragma once

#include <string>

namespace leasehold {

// Where the program of this process lies, or lay when it was started. Empty: that cannot be told.
std::string own_program();

}  // namespace leasehold
