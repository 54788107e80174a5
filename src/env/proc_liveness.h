#pragma once

#include <array>
#include <chrono>
#include <mutex>

#include "env/liveness.h"
#include "env/machine.h"
#include "env/processes.h"
#include "util/descriptor.h"

namespace leasehold {

// Looks at processes in /proc. Says `dead` only on proof: a look that failed, a process that is hidden, on
// another machine or in another pid namespace is `unknown`.
class ProcLiveness final : public LivenessProbe {
 public:
  explicit ProcLiveness(Machine machine, ProcFolder proc = ProcFolder())
      : machine_(std::move(machine)), proc_(std::move(proc)) {}

  Verdict look_at(const Process& process) override;
  std::shared_ptr<const Descriptor> watch(const Process& process) override;

 private:
  // Who is looked at again and again is watched: asking the descriptor costs a fraction of a look into /proc.
  struct Seen {
    Process process = {};
    Verdict verdict = {};
    std::shared_ptr<const Descriptor> end = nullptr;  // Readable when it has ended. Null: always look.
    std::chrono::steady_clock::time_point until = {};
  };
  static constexpr std::size_t kSeenMost = 64;
  // The descriptor does not tell that it was stopped.
  static constexpr std::chrono::seconds kSeenLife{1};

  Seen& seen_at(const Process& process) { return seen_[static_cast<std::size_t>(process.pid) % kSeenMost]; }

  // What follows from where the process runs. Nothing: here, so its pid means something.
  std::optional<Verdict> judge_place(const Process& process) const;
  // Under the mutex, at a process that is here.
  Verdict look_at_watched(Seen& seen);
  Verdict look_in_proc(const Process& process);
  Verdict judge(const Process& process, const ProcessStat& found) const;

  Machine machine_;
  ProcFolder proc_;
  std::mutex mutex_;
  ProcessStat own_;  // Of this process, once it was looked at. It does not end before the one who asks.
  std::mutex seen_mutex_;
  std::array<Seen, kSeenMost> seen_;  // Each in its pid's place, until another one is looked at that has it.
};

}  // namespace leasehold
