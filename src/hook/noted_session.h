// Which session an agent's process has, as its hooks report it: for the commands and tools that the same
// process starts, and that are not told. They have to be one owner with the hooks.
#pragma once

#include <optional>
#include <string>

#include "leasehold/lease.h"
#include "util/variables.h"

namespace leasehold {

// The agent around this process: nothing else counts, for its children alone are its own. Nothing: there is
// none, or it cannot be seen.
std::optional<Process> agent_around(const Variables& variables);

// One small file for each process, in the folder of SeenFiles; written only if it says something else. Of
// several sessions that one process has, the last one to report counts. `owner` is the session's main agent.
void note_session(const std::string& folder, const Process& agent, const Owner& owner);
// It is over; another that the process has by now stays.
void forget_session(const std::string& folder, const Process& agent, const Owner& owner);

// The session that the agent around this process has, where one works in `place`. Thread-safe.
class SessionAround {
 public:
  SessionAround(const std::string& place, const Variables& variables);

  // As it is now: an agent's tools outlive its sessions. Nothing: no hook told.
  std::optional<Owner> now() const;

 private:
  std::string file_;  // Empty: there is no place for it, or no agent.
};

}  // namespace leasehold
