// A store on a real disk, a manager on it, and a caller: what the comparisons start from.
#pragma once

#include <memory>
#include <string>

#include "engine/policy.h"
#include "env/boottime_clock.h"
#include "env/proc_liveness.h"
#include "env/system_random.h"
#include "manager/lease_manager.h"
#include "store/sqlite/sqlite_store.h"

namespace leasehold::bench {

// A folder that is gone in the end. Not in memory: the disk is part of what is measured.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Of a manager whose waiters can be seen, as those of one machine can.
ManagerOptions options_here();

// Ends the process if the store cannot be opened.
class Site {
 public:
  explicit Site(const std::string& folder);

  LeaseManager& manager() { return *manager_; }
  Store& store() { return *store_; }

 private:
  BoottimeClock clock_;
  SystemRandom random_;
  ProcLiveness liveness_{read_machine()};
  std::unique_ptr<Store> store_;
  std::unique_ptr<LeaseManager> manager_;
};

inline constexpr const char* kWorkspaceId = "3f2a9c517be04d68";

// As an agent's hook would say it.
Caller caller(int number);

double microseconds_since(std::chrono::steady_clock::time_point start);

// Prints the error and ends the process.
[[noreturn]] void give_up(const std::string& why);

// The grant, or the end.
Granted must_grant(Result<AcquireAnswer> answer);

}  // namespace leasehold::bench
