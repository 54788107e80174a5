// The variables of a process's environment.
#pragma once

#include <cstdlib>
#include <functional>

namespace leasehold {

// Looks one up, like getenv(3): null if it is not set.
using Variables = std::function<const char*(const char* name)>;

// Of this process.
inline const char* own_variable(const char* name) { return std::getenv(name); }

}  // namespace leasehold
