#pragma once

#include <set>

#include "env/liveness.h"

namespace leasehold::simulation {

// The processes of the simulated machine, and what can be seen of them.
class Processes final : public LivenessProbe {
 public:
  Process start() {
    const Process process = {.machine_id = "here", .boot_id = "first", .pid = ++last_pid_, .start_time = 7};
    living_.insert(process);
    return process;
  }

  // One on another machine: nobody here ever knows about it.
  Process start_elsewhere() {
    return {.machine_id = "elsewhere", .boot_id = "first", .pid = ++last_pid_, .start_time = 7};
  }

  void kill(const Process& process) { living_.erase(process); }

  void blind(bool blind) { blind_ = blind; }
  bool is_blind() const { return blind_; }

  Verdict look_at(const Process& process) override { return {state_of(process), "simulated"}; }

  Liveness state_of(const Process& process) const {
    if (blind_ || process.machine_id != "here") return Liveness::unknown;
    return living_.contains(process) ? Liveness::alive : Liveness::dead;
  }

 private:
  std::int64_t last_pid_ = 100;
  bool blind_ = false;
  std::set<Process> living_;
};

}  // namespace leasehold::simulation
