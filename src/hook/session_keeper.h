// Where others cannot see an agent's process, only time tells them that it lives: on a store that several
// machines share, and in a container. There a detached process, one for each workspace and session, renews
// the session's leases while the agent is there, by the rules that hold where it can be seen.
//
// It is known by a file that it keeps locked as long as it lives. Its hooks touch that file, and so say that
// the agent is at work; when the session ends they remove it.
#pragma once

#include <string>
#include <vector>

#include "leasehold/open.h"

namespace leasehold {

// Whether a lease of this workspace outlives a long thought only if somebody renews it. `granted`: something
// was just now.
bool needs_keeper(const OpenWorkspace& workspace, bool granted);

// Starts one unless there is one, and notes that the agent is at work. What goes wrong costs no more than
// that leases end with their time. `session_id` is not empty.
void ensure_keeper(const OpenWorkspace& workspace, const std::string& session_id, const Process& agent);

// The session is over, and so is its keeper.
void end_keeper(const OpenWorkspace& workspace, const std::string& session_id);

// Where the keeper has its file: as this descriptor.
inline constexpr int kKeeperFile = 3;

// What the keeper does: lease keep-session PLACE SESSION PID START-TIME, the process being the agent's.
// Returns when there is nothing to keep any more. Errors: invalid_argument, and those of opening.
Result<void> keep_session(const std::vector<std::string>& operands, const OpenOptions& options);

}  // namespace leasehold
