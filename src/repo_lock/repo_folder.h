// The folder of one repository, and the lock file in it.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "leasehold/result.h"
#include "repo_lock/files.h"
#include "repo_lock/guard_file.h"

namespace leasehold::repo_lock {

// A lock file as it was found.
struct Found {
  std::optional<std::string> text;  // Nothing: it cannot be read.
  struct stat status{};
};

// Errors of its functions: config_error (something else is where a file or folder of ours should be; symbolic
// links are not followed), unavailable (whatever else the system says).
class RepoFolder {
 public:
  // ${data_dir}/repos/<repo_id>. Nothing: it does not exist.
  static Result<std::optional<RepoFolder>> open(const std::string& path);
  static Result<RepoFolder> open_or_make(const std::string& path);

  std::string lock_path() const { return path_ + "/.lock"; }

  // Nothing: others were inside for as long as that.
  Result<std::optional<GuardFile>> enter(std::chrono::milliseconds at_most) const;

  // Counts one more taking of the lock, and says which.
  Result<std::uint64_t> next_generation(GuardFile& guard) const;

  // Nothing: there is no lock file.
  Result<std::optional<Found>> look() const;

  // Makes the lock file, with all of `text` in it before anybody can see it; removes the stale one that is in
  // its place as late as it can, so that an error leaves that alone. Nothing: there is one already. Only
  // inside the guard.
  Result<std::optional<Descriptor>> create(std::string_view text, bool instead_of_stale) const;

  // Removes the lock file; a missing one is no error. Only inside the guard.
  Result<void> remove() const;

  // Whether the lock file is this one; nothing: there is none.
  Result<std::optional<bool>> has(const Descriptor& lock_file) const;

 private:
  RepoFolder(std::string path, Descriptor folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  Error cannot(std::string_view what, std::errc why) const;
  std::string guard_path() const { return path_ + "/" + GuardFile::kName; }
  Result<std::optional<struct stat>> entry() const;

  std::string path_;
  Descriptor folder_;
};

}  // namespace leasehold::repo_lock
