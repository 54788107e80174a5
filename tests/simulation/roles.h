#pragma once

#include <set>
#include <string>
#include <vector>

#include "simulation/dice.h"

namespace leasehold::simulation {

// Who a client is. Clients with the same `program` share a process, and die together.
struct Role {
  enum class Seen { here, elsewhere, not_at_all };

  Owner owner;
  std::size_t program = 0;
  Seen seen = Seen::here;
  bool whole_session = false;  // Acts for all of its session.
};

// Three to seven of them: two agents of one session, the command line that acts for both, and others.
std::vector<Role> draw_roles(Dice& dice);

// Sessions with a member that acts for all of them.
std::set<std::string> acting_sessions(const std::vector<Role>& roles);

}  // namespace leasehold::simulation
