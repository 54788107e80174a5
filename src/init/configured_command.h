// What a host runs before a write, by the files that it reads now.
#pragma once

#include <string>
#include <vector>

#include "hook/hook_host.h"

namespace leasehold {

// Programs with their arguments, as the host starts them; mostly a shell with one line. None: it does not ask
// us before it writes.
std::vector<std::vector<std::string>> commands_before_write(const std::string& root, HookHost host);

// Whether the host goes on with a write when a hook takes longer than it was given.
bool passes_when_late(HookHost host);

}  // namespace leasehold
