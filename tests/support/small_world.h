// A lease manager with nothing real around it: a memory store, a clock that stands still, processes that
// live and die as told. For tests of the engine and the manager.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>

#include "manager/lease_manager.h"
#include "store/memory/memory_store.h"
#include "support/manual_clock.h"
#include "support/records.h"

namespace leasehold {

// Knows of a process what it was told, and nothing of others. Thread-safe.
class ToldProbe : public LivenessProbe {
 public:
  void tell(const Process& process, Liveness liveness) {
    const std::lock_guard lock(mutex_);
    told_[process] = liveness;
  }

  Verdict look_at(const Process& process) override {
    const std::lock_guard lock(mutex_);
    const auto found = told_.find(process);
    if (found == told_.end()) return {Liveness::unknown, "nobody told"};
    return {found->second, "told so"};
  }

 private:
  std::mutex mutex_;
  std::map<Process, Liveness> told_;
};

// The same numbers in every run. Thread-safe.
class SeededRandom final : public Random {
 public:
  std::uint64_t next() override {
    const std::lock_guard lock(mutex_);
    return engine_();
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_{1};
};

struct SmallWorld {
  explicit SmallWorld(const Policy& policy = {}) : manager({probe, random}, *store, kWorkspace, policy) {}

  // Everything there is: all records of the workspace, as text. Two equal texts: nothing was written.
  std::string everything() {
    std::string text;
    const auto shown = [&](const auto& record) {
      std::ostringstream out;
      PrintTo(record, &out);
      text += out.str() + '\n';
    };
    const auto looked = store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
      for (const Lease& lease : view.leases({})) shown(lease);
      for (const Ticket& ticket : view.tickets({})) shown(ticket);
      for (const Event& event : view.history({})) shown(event);
      return {};
    });
    return looked ? text : "cannot look";
  }

  ManualClock clock;
  ToldProbe probe;
  SeededRandom random;
  std::unique_ptr<Store> store = open_memory_store(clock);
  LeaseManager manager;
};

inline Process process(std::int64_t pid) {
  return {.machine_id = "machine", .boot_id = "boot", .pid_namespace = 1, .pid = pid, .start_time = 1};
}

// For Verdicts.
inline Verdict out_of_sight(const Process&) { return {Liveness::unknown, "out of sight"}; }

inline Caller caller(const Owner& owner) {
  Caller caller;
  caller.holder.owner = owner;
  return caller;
}

inline AcquireRequest asking(const Owner& owner, std::initializer_list<const char*> paths) {
  AcquireRequest request;
  request.caller = caller(owner);
  for (const char* path : paths) {
    WantedPath wanted;
    wanted.path = path;
    request.paths.push_back(std::move(wanted));
  }
  return request;
}

}  // namespace leasehold
