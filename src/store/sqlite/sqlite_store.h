#pragma once

#include <memory>
#include <string>

#include "leasehold/result.h"
#include "store/clock.h"
#include "store/store.h"

namespace leasehold {

struct SqliteOptions {
  std::string folder;  // Made if missing, its parents too.
  // Whose times these are: CLOCK_BOOTTIME starts over with each boot, and means nothing elsewhere.
  std::string machine_id;
  std::string boot_id;
  Duration gate_timeout = std::chrono::seconds(5);

  // Every commit is on the disk before it is answered, so that a power cut loses none. Costs a sync each; so
  // for those who make one commit of many calls (Store::together).
  bool durable = false;

  // The log is moved into the file when it is longer than this. Each time costs two syncs, so not often.
  int log_pages_max = 4'000;
  // And then it is left empty, where no reader is in the way. For processes that end soon: who opens the
  // store alone reads the log as a whole, also what was moved already.
  bool empties_log = false;

  // For tests: another file system underneath.
  const char* vfs = nullptr;
  long (*file_system_type)(const std::string& folder) = nullptr;
};

// The embedded store: any number of processes of one machine share one file, with no daemon.
//
// `clock` must outlive the store. A store must not be used after fork(2) in the child.
// Errors: unavailable, corrupt, config_error (a file of another program, of a newer version, of another
// machine, on a network file system).
Result<std::unique_ptr<Store>> open_sqlite_store(const SqliteOptions& options, const StoreClock& clock);

}  // namespace leasehold
