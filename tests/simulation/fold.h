#pragma once

#include <map>
#include <optional>
#include <string>

#include "simulation/rules.h"

namespace leasehold::simulation {

// The history, folded: what the leases must be if it tells the truth (I20).
class Fold {
 public:
  // Nothing, or why this line cannot follow those before.
  std::optional<std::string> apply(const Event& event);

  // Nothing, or where the store differs from what its history says.
  std::optional<std::string> compare(const Snapshot& snapshot) const;

  const std::map<LeaseId, Event>& leases() const { return last_; }

 private:
  // By lease: the line that made it what it is. Its status is `status_after`.
  std::map<LeaseId, Event> last_;
};

}  // namespace leasehold::simulation
