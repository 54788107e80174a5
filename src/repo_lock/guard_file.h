// Who decides about a lock file, and whether somebody decided since.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <system_error>

#include "repo_lock/files.h"

namespace leasehold::repo_lock {

// An exclusive flock(2) on a file beside the lock that is never removed. No system call removes a file only
// if it is still the stale one, so whoever removes or makes a lock file does it in here. The kernel opens it
// when its holder dies.
class GuardFile {
 public:
  static constexpr const char* kName = ".lock.guard";

  // Nothing: others were inside for as long as that. Errors: what the system says.
  static std::expected<std::optional<GuardFile>, std::errc> enter(const Descriptor& folder,
                                                                  std::chrono::milliseconds at_most);

  GuardFile(GuardFile&&) = default;
  GuardFile& operator=(GuardFile&&) = delete;
  ~GuardFile();

  // How often the lock was taken; 0 if that cannot be read.
  std::uint64_t generation() const;

  // One more, of which it returns the number.
  std::expected<std::uint64_t, std::errc> next_generation();

 private:
  explicit GuardFile(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace leasehold::repo_lock
