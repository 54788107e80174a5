// For whom a command acts.
#pragma once

#include <functional>
#include <string>

#include "leasehold/calls.h"
#include "util/variables.h"

namespace leasehold {

struct Identity {
  Owner owner;
  std::string pr_id;
  std::string host;
  Owner said;            // What flags and LEASE_AGENT, LEASE_SESSION say; an empty part: nothing.
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

// The owner that hooks of the agent around noted for it (hook/noted_session.h). Nothing: none did.
using Noted = std::function<std::optional<Owner>()>;

// flag > LEASE_AGENT, LEASE_SESSION, LEASE_PR > the host agent's variables, if they tell its session > what
// its hooks noted > user@host. A session that belongs to the host agent is kept when only the agent's name is
// given: it is a subagent's then. Asks for what was noted only if it may count.
Identity identify(const IdentityFlags& flags, const Variables& variables, const SystemUser& system,
                  const Noted& noted);

}  // namespace leasehold
