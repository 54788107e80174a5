#pragma once

#include <functional>
#include <map>

#include "leasehold/lease.h"

namespace leasehold {

// What is known about processes while one decision is made. Each is looked at when a rule first asks, and not
// again: a decision that runs twice, or asks twice, hears the same.
class Verdicts {
 public:
  // Must be quick and wait for nothing: it is called inside transactions.
  using Look = std::function<Verdict(const Process&)>;

  explicit Verdicts(Look look) : look_(std::move(look)) {}

  const Verdict& of(const Process& process) const {
    auto found = known_.find(process);
    if (found == known_.end()) found = known_.emplace(process, look_(process)).first;
    return found->second;
  }

  void learn(const Process& process, Verdict verdict) { known_[process] = std::move(verdict); }

 private:
  Look look_;
  mutable std::map<Process, Verdict> known_;
};

}  // namespace leasehold
