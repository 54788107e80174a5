#pragma once

#include <string>
#include <vector>

#include "init/init.h"

namespace leasehold {

// What a look at the files of a host that calls us finds odd: hooks of another version or other settings,
// hooks where the host does not look, hooks that are switched off or that their user did not allow yet,
// writes that pass unchecked.
// Sentences, each with what to do.
std::vector<std::string> host_problems(const InitRequest& project, HookHost host, const Variables& variables);

}  // namespace leasehold
