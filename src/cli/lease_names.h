// Leases that are there already, named by paths. A name that was right when the lease was given has to be
// right still: what lies there now may be a link.
#pragma once

#include <string>
#include <vector>

#include "cli/call.h"

namespace leasehold {

// One lease for each path: that on the path as it is written, if there is one, else that on what it leads to.
// `own_first`: of two, the caller's own. Errors: those of the workspace.
Result<std::vector<std::string>> keys_of_leases(Call& call, const std::vector<std::string>& paths,
                                                bool own_first);

// Both. Errors: those of the workspace.
Result<std::vector<std::string>> keys_to_look_at(Call& call, const std::vector<std::string>& paths);

}  // namespace leasehold
