// What all open workspaces of one process and store URL have in common: one lock service for each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/boottime_clock.h"
#include "env/machine.h"
#include "leasehold/result.h"
#include "manager/rooms.h"
#include "store/store.h"

namespace leasehold {

struct StoreUse {
  bool create = true;
  bool is_brief = false;
  bool durable = false;
  std::optional<Machine> machine = {};  // Where we are, if that is known already.
};

// In the order they depend on each other.
struct SharedStore {
  SharedStore(Machine its_machine, std::shared_ptr<const void> url)
      : url_in_use(std::move(url)), machine(std::move(its_machine)) {}

  std::shared_ptr<const void> url_in_use;
  Machine machine;
  BoottimeClock clock{machine.boottime_offset};
  std::unique_ptr<Store> store;
  std::vector<std::string> warnings;  // What people should know about it.
  std::shared_ptr<Rooms> rooms = std::make_shared<Rooms>();
};

// Keeps this process to one URL for as long as somebody has the result. Error: config_error (another is in
// use).
Result<std::shared_ptr<const void>> use_url(const std::string& asked_url);

// The store of `url`, opened unless this process has it open already; then how it was opened stays as it is.
// One process uses one URL at a time (`asked_url`: as the settings have it, empty for embedded stores): who
// holds a file in one store is nobody in another, and a process that uses both would fool itself.
// Thread-safe. A child of fork(2) gets one of its own.
//
// Errors: config_error (another URL is in use), and those of open_store().
Result<std::shared_ptr<SharedStore>> share_store(const std::string& asked_url, const std::string& url,
                                                 const StoreUse& use);

}  // namespace leasehold
