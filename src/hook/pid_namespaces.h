// From which pid namespaces an embedded store is used: a process of one cannot be seen from another.
#pragma once

#include <string>

#include "env/machine.h"

namespace leasehold {

// Notes in the store's `folder` that `machine` uses it. True: another pid namespace of the same kernel does
// so too, or did.
bool is_shared_between_namespaces(const std::string& folder, const Machine& machine);

// Whether `machine` is a container whose store others outside may use: it does not lie in the container's own
// file system.
bool is_container_with_shared_folder(const std::string& folder, const Machine& machine);

}  // namespace leasehold
