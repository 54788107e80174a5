#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulation/beliefs.h"
#include "simulation/bugs.h"
#include "simulation/checker.h"
#include "simulation/dice.h"
#include "simulation/faults.h"
#include "simulation/processes.h"
#include "simulation/trace.h"
#include "support/faulty_store.h"
#include "support/manual_clock.h"

namespace leasehold::simulation {

// Everything around the clients: time, chance, processes, the store and the service on it, and the
// eyes that watch. All in one thread.
class World {
 public:
  // With `wall_steps` false, nobody sets the wall clock, and all else is as it would be.
  World(std::uint64_t seed, PlantedBug bug, bool wall_steps, std::set<std::string> acting_sessions);

  // In place of the old one, on the same data. Clients notice and look again.
  void restart_service();
  void lose_all_data();
  void step_wall();
  void set_outage(bool outage);

  // A fault that the next call may meet.
  void trip_next_call();

  // No more faults.
  void heal();

  Service& service() { return *service_; }
  Time now() const { return clock.now(); }
  void note(std::string line) { trace.add(now(), std::move(line)); }

  const PlantedBug bug;
  Dice dice;
  Faults faults;
  const Policy policy;
  ManualClock clock;
  Processes processes;
  Rules rules;
  Beliefs beliefs;
  Checker checker;
  Trace trace;

  // Told of each ticket whose bell was rung and heard, after the commit.
  std::function<void(const GroupId&)> on_ring;
  // Told at once, by a service that rings too early.
  std::function<void(const GroupId&)> on_early_ring;

 private:
  void open_store();
  void deliver(const Commit& commit);

  const bool wall_steps_;
  Dice ids_;
  std::unique_ptr<StoreClock> store_clock_;
  std::unique_ptr<Store> data_;
  std::unique_ptr<RecordingStore> recording_;
  std::unique_ptr<FaultyStore> faulty_;
  std::unique_ptr<Service> service_;
};

}  // namespace leasehold::simulation
