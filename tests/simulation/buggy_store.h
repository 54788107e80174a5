#pragma once

#include <cstdint>
#include <functional>

#include "simulation/planted_bug.h"
#include "support/forwarding_store.h"

namespace leasehold::simulation {

// A store with one of those bugs that sit between the engine and its data.
class BuggyStore final : public ForwardingStore {
 public:
  // `wake` lets whoever listens to a ticket look at once.
  BuggyStore(Store& target, PlantedBug bug, std::function<void(const GroupId&)> wake)
      : ForwardingStore(target), bug_(bug), wake_(std::move(wake)) {}

  // While hidden, nobody seems to wait.
  void hide_queue(bool hidden) { hides_queue_ = hidden; }

  Result<void> transact(const Footprint& footprint, const Body& body) override;

 private:
  void ring_early(const Footprint& footprint, const Body& body);

  const PlantedBug bug_;
  const std::function<void(const GroupId&)> wake_;
  bool hides_queue_ = false;
  bool is_ringing_ = false;
  std::uint64_t counter_ = 0;  // Not kept: the next service starts again.
};

}  // namespace leasehold::simulation
