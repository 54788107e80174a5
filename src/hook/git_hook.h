// The check at a commit: for those who write in ways that no agent's hook sees.
#pragma once

#include <string>
#include <vector>

#include "leasehold/open.h"
#include "leasehold/result.h"

namespace leasehold {

// One file of the commit that somebody else has.
struct Trespass {
  std::string path;  // As git names it.
  Lease lease;
};

// Which files of the commit that is being made belong to other live owners: changed, added, deleted and both
// sides of a rename. Run at the top of the work tree, as git does. Errors: those of git and the store.
Result<std::vector<Trespass>> before_commit(OpenWorkspace& workspace, const Caller& caller);

// Gives back the caller's leases on the files of the commit that was just made. Returns how many.
Result<std::size_t> after_commit(OpenWorkspace& workspace, const Caller& caller);

}  // namespace leasehold
