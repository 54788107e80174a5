// The check at a commit: for those who write in ways that no agent's hook sees.
#pragma once

#include <string>
#include <vector>

#include "env/host_agent.h"
#include "leasehold/open.h"
#include "leasehold/result.h"

namespace leasehold {

// One file of the commit that somebody else has.
struct Trespass {
  std::string path;  // As git names it.
  Lease lease;
};

// Who commits. In an agent's shell that is the agent, whose leases its own hooks took under its own name,
// whatever LEASE_AGENT and LEASE_SESSION say: these are inherited from around the agent.
struct Committer {
  Caller caller;                   // By flags and the environment.
  std::optional<HostAgent> agent;  // Around us.
  std::optional<Process> process;  // Of the nearest agent, which may be another one's child.
  std::vector<LeaseId> kept = {};  // What a lease run around us gives back itself, and needs until then.

  // Also what any agent of the agent's session has, and what hooks took for its process: not every agent
  // tells its shell which session it is.
  bool owns(const Holder& holder) const;
};

// Which files of the commit that is being made belong to other live owners: changed, added, deleted and both
// sides of a rename. Run at the top of the work tree, as git does. Errors: those of git and the store.
Result<std::vector<Trespass>> before_commit(OpenWorkspace& workspace, const Committer& who);

struct GivenBack {
  std::size_t count = 0;
  std::vector<Notice> notices;  // What the committer is to be told besides.
};

// Gives back the committer's leases on the files of the commit that was just made, but for those it keeps.
Result<GivenBack> after_commit(OpenWorkspace& workspace, const Committer& who);

}  // namespace leasehold
