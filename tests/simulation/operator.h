#pragma once

#include <vector>

#include "simulation/client.h"

namespace leasehold::simulation {

// Whoever may end and move other owners' leases; and the sweeper.
class Operator {
 public:
  explicit Operator(World& world) : world_(world) {}

  void set_clients(const std::vector<Client*>& clients) { clients_ = clients; }

  // Does one of these, for no reason.
  void step();

  void sweep(bool dead_owners);

 private:
  void forget();
  void force(const Lease& lease);
  void hand_over(const Lease& lease);
  void instruct(const Contention& contention);

  World& world_;
  std::vector<Client*> clients_;
};

}  // namespace leasehold::simulation
