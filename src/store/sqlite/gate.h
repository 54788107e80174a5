// One writer at a time, across threads and processes, in the order they came.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "store/sqlite/fair_mutex.h"

namespace leasehold::sqlite {

// An exclusive flock(2) on a file that is never deleted. SQLite's own locks neither queue nor, in the
// versions around, keep a checkpoint apart from a write (docs/design/decisions.md); this does both. The
// kernel opens it when its holder dies.
//
// flock alone is no queue: all who wait wake at once, and whoever comes back first goes in again. So there is
// a place before the gate, for one: only who stands there may enter. Thread-safe.
class Gate {
 public:
  // Error: unavailable.
  static Result<std::unique_ptr<Gate>> open(const std::string& path);

  ~Gate();

  // Held until it goes out of scope.
  class Pass {
   public:
    Pass(Pass&&) = default;
    Pass& operator=(Pass&&) = delete;
    ~Pass();

   private:
    friend class Gate;
    Pass(Gate& gate, std::unique_lock<FairMutex> turn) : gate_(&gate), turn_(std::move(turn)) {}

    Gate* gate_;
    std::unique_lock<FairMutex> turn_;  // Ours while it owns the mutex; not so after a move.
  };

  // Waits at most so long. Error: unavailable, naming the process inside.
  Result<Pass> enter(Duration at_most);

 private:
  struct Sign;
  Gate(std::string path, int fd, Sign& sign) : path_(std::move(path)), fd_(fd), sign_(sign) {}

  bool try_step_up();
  void step_down();
  bool try_go_in();
  void go_out();
  Error stuck(Duration waited) const;

  FairMutex turn_;
  const std::string path_;
  const int fd_;
  Sign& sign_;
};

}  // namespace leasehold::sqlite
