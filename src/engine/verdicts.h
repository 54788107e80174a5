#pragma once

#include <map>
#include <set>
#include <vector>

#include "leasehold/lease.h"

namespace leasehold {

// What is known about processes while one decision is made.
//
// Looking at a process is slow and not for the inside of a transaction. So a decision only asks
// here; what was not known is remembered as a question and counts as `unknown` for now. Whoever runs
// the transaction then drops its result, finds the answers outside, and runs it again.
class Verdicts {
 public:
  // By value: unknown answers have no home.
  Verdict of(const Process& process) const {
    if (const auto found = known_.find(process); found != known_.end()) return found->second;
    questions_.insert(process);
    return {Liveness::unknown, "not looked at yet"};
  }

  void learn(const Process& process, Verdict verdict) { known_[process] = std::move(verdict); }

  // Hands out the open questions, and forgets them.
  std::set<Process> take_questions() const { return std::exchange(questions_, {}); }

 private:
  std::map<Process, Verdict> known_;
  mutable std::set<Process> questions_;
};

}  // namespace leasehold
