#include "simulation/roles.h"

namespace leasehold::simulation {

std::vector<Role> draw_roles(Dice& dice) {
  using Seen = Role::Seen;
  const std::vector<Role> all = {
      {{"ann", "s1"}, 1, Seen::here},           {{"bob", "s2"}, 2, Seen::here},
      {{"cyd", "s3"}, 3, Seen::elsewhere},      {{"dan", ""}, 4, Seen::not_at_all},
      {{"ann-sub", "s1"}, 1, Seen::here},       {{"eve", "s5"}, 5, Seen::here},
      {{"ann-cli", "s1"}, 1, Seen::here, true},
  };
  std::vector<Role> roles(all.begin(), all.begin() + 3);
  for (std::size_t i = 3; i < all.size(); ++i) {
    if (dice.chance(all[i].whole_session ? 25 : 60)) roles.push_back(all[i]);
  }
  return roles;
}

std::set<std::string> acting_sessions(const std::vector<Role>& roles) {
  std::set<std::string> sessions;
  for (const Role& role : roles) {
    if (role.whole_session) sessions.insert(role.owner.session_id);
  }
  return sessions;
}

}  // namespace leasehold::simulation
