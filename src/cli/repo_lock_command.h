// lease repo-lock: one command at a time per repository.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/caller_process.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

struct RepoLockArguments {
  std::string repo_id;
  std::string data_dir;  // Empty: where the environment says.
  std::string cmd;       // Empty: the command itself.
  Duration wait{};
  Duration stale_after = std::chrono::hours(2);
  bool status = false;
  bool json = false;
  std::vector<std::string> command;
  std::string help;  // What to print instead of doing anything; else empty.

  bool operator==(const RepoLockArguments&) const = default;
};

// The arguments after `lease repo-lock`. Error: invalid_argument.
Result<RepoLockArguments> parse_repo_lock(std::span<const std::string_view> arguments);

// AGENCY_DATA_DIR, else `leasehold` in the XDG state folder. Nothing: there is no home to have one in.
std::optional<std::string> default_data_dir(const Variables& variables);

// Returns the exit status: the command's own, or that of `locked`, `lost` or an error.
int run_repo_lock(const RepoLockArguments& arguments, const Variables& variables);

}  // namespace leasehold
