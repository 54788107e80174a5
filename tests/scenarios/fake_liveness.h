#pragma once

#include <map>

#include "env/liveness.h"

namespace leasehold::scenario {

// Processes that live and die as a test says. Those of this machine are alive until told otherwise;
// those of another one cannot be seen.
class FakeLiveness final : public LivenessProbe {
 public:
  // A process as another agent would have it: of its own, on this machine and in this boot, or not.
  Process start_here() { return {"here", boot_id(), 1, ++last_pid_, 1}; }
  Process start_elsewhere() { return {"elsewhere", "boot-1", 1, ++last_pid_, 1}; }

  void kill(const Process& process) { verdicts_[process] = {Liveness::dead, "its process is gone"}; }
  void hide(const Process& process) {
    verdicts_[process] = {Liveness::unknown, "its process cannot be seen"};
  }
  void stop(const Process& process) {
    verdicts_[process] = {Liveness::alive, "its process is stopped", true};
  }
  void show(const Process& process) { verdicts_.erase(process); }

  // All that runs here ends.
  void reboot() { ++boots_; }

  Verdict look_at(const Process& process) override {
    if (const auto told = verdicts_.find(process); told != verdicts_.end()) return told->second;
    if (process.machine_id != "here") return {Liveness::unknown, "its process is on another machine"};
    if (process.boot_id != boot_id()) return {Liveness::dead, "its machine was restarted"};
    return {Liveness::alive, "its process runs"};
  }

 private:
  std::string boot_id() const { return "boot-" + std::to_string(boots_); }

  std::map<Process, Verdict> verdicts_;
  std::int64_t last_pid_ = 100;
  int boots_ = 1;
};

}  // namespace leasehold::scenario
