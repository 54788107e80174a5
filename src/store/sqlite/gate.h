// One writer at a time, across threads and processes, in the order they came.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "store/fair_mutex.h"
#include "util/descriptor.h"

namespace leasehold::sqlite {

// An exclusive flock(2) on a file that is never deleted. SQLite's own locks neither queue nor, in the
// versions around, keep a checkpoint apart from a write (docs/design/decisions.md); this does both. The
// kernel opens it when its holder dies.
//
// flock alone is no queue: all who wait wake at once, and whoever comes back first goes in again. So there is
// a place before the gate, for one: only who stands there may enter. Thread-safe.
class Gate {
 public:
  // Errors: unavailable, config_error (something else than a file is there).
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

  // Waits at most so long. Error: unavailable (naming the process inside; or somebody deleted or replaced the
  // file, and others may be inside another one of that name).
  Result<Pass> enter(Duration at_most);

 private:
  struct Sign;
  Gate(std::string path, Descriptor file, const struct stat& opened, Sign& sign)
      : path_(std::move(path)), file_(std::move(file)), opened_(opened), sign_(sign) {}

  bool is_in_place() const;
  bool try_step_up();
  void step_down();
  bool try_go_in();
  void go_out();
  Error stuck(Duration waited) const;
  Error moved() const;

  FairMutex turn_;
  const std::string path_;
  const Descriptor file_;
  const struct stat opened_;  // As it was then.
  Sign& sign_;
};

}  // namespace leasehold::sqlite
