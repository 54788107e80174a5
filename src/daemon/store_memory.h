// What the daemon remembers of its store outside of it, so that it notices when the store has lost something:
// was wiped, or replaced by an older copy or another one. Then those who held leases may still rely on them,
// and nothing is granted until the longest of their terms has passed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "daemon/services.h"

namespace leasehold::daemon {

// save() is called by one thread at a time; all else by any.
class StoreMemory {
 public:
  // Looks at both. Errors: those of the store; config_error (the file cannot be read).
  static Result<std::unique_ptr<StoreMemory>> open(Services& services, std::string file);

  // Why nothing may be granted now; empty: it may.
  std::string refusal() const;

  // To be called every second or so, with the highest token that was granted. Writes if there is something
  // new. Errors: unavailable (the file), and those of the store.
  Result<void> save(Token highest);

 private:
  using Clock = std::chrono::steady_clock;

  StoreMemory(Services& services, std::string file) : services_(services), file_(std::move(file)) {}
  Duration longest_term() const;
  Result<void> write_file() const;

  Services& services_;
  const std::string file_;
  std::string store_id_;
  Token token_{};       // As it stands in both.
  Duration longest_{};  // In the file.
  bool is_known_ = false;
  std::atomic<bool> lost_ = false;
  Clock::time_point closed_until_;
};

// Writes what the store has of this again, as it is: whether it takes writes. Errors: those of the store.
Result<void> rewrite_token(Store& store, const std::string& workspace);

}  // namespace leasehold::daemon
