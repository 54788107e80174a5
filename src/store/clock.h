#pragma once

#include "leasehold/lease.h"

namespace leasehold {

// Where a store's time comes from. Time belongs to the store, so that no agent's clock decides;
// tests inject a manual one into every store. Thread-safe.
class StoreClock {
 public:
  virtual ~StoreClock() = default;

  // Never goes back, and counts time asleep.
  virtual Time now() const = 0;

  // For people, and as the floor of tokens. May step.
  virtual WallTime wall() const = 0;
};

}  // namespace leasehold
