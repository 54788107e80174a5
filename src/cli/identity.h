// For whom a command acts.
#pragma once

#include <functional>
#include <string>

#include "leasehold/calls.h"

namespace leasehold {

struct Identity {
  Owner owner;
  std::string pr_id;
  std::string host;
  std::string source;    // Where the agent's name comes from, for people.
  bool is_user = false;  // Nobody said a name: it is that of the user and the host.
};

struct IdentityFlags {
  std::optional<std::string> agent_id;
  std::optional<std::string> session_id;
  std::optional<std::string> pr_id;
};

// What the system says about who runs this process.
struct SystemUser {
  std::string user;
  std::string host;
};
SystemUser system_user();

// flag > LEASE_AGENT, LEASE_SESSION, LEASE_PR > the host agent's variables > user@host. A session that
// belongs to the host agent is kept when only the agent's name is given: it is a subagent's then.
Identity identify(const IdentityFlags& flags, const std::function<const char*(const char* name)>& variables,
                  const SystemUser& system);

}  // namespace leasehold
