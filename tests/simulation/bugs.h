// The planted bugs, as wrappers around the product: its own code stays as it is.
#pragma once

#include <functional>
#include <memory>

#include "simulation/planted_bug.h"
#include "simulation/service.h"
#include "store/clock.h"

namespace leasehold::simulation {

// The parts of a service, in which a bug may sit. All but `wake` outlive the service.
struct Parts {
  Environment environment;
  Store& store;
  std::string workspace;
  Policy policy;

  // Lets whoever listens to the ticket look at once: for a bug that rings too early.
  std::function<void(const GroupId&)> wake;
};

// A service with that bug. `none`: as it is meant to be.
std::unique_ptr<Service> make_service(PlantedBug bug, const Parts& parts);

// A clock for the store: `real`, or for expiry_by_wall_clock one that follows its wall.
std::unique_ptr<StoreClock> make_clock(PlantedBug bug, const StoreClock& real);

}  // namespace leasehold::simulation
