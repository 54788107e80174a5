// A subagent that goes on after it stopped. What it had went to its session's main agent meanwhile, which
// would deny it its own files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leasehold/open.h"

namespace leasehold {

// Who hands files to and fro within a session, as hooks report who goes on.
inline constexpr std::string_view kHookAgent = "lease-hook";

// What history says of the leases that a subagent leaves to its main agent.
std::string note_of_stop(const Owner& subagent);

// Hands those of `wanted` back to the subagent that the main agent has from it and from nobody else, unless
// it is just writing them. `seen_folder`: where that can be told (SeenFiles). Nothing that goes wrong here
// matters: the gate then answers by what is held.
void take_back(OpenWorkspace& workspace, const Holder& subagent, const Owner& main,
               const std::vector<WantedPath>& wanted, const std::optional<std::string>& seen_folder);

}  // namespace leasehold
