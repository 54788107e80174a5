// What stands in a lock file: docs/repo-lock.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/repo_lock.h"

namespace leasehold::repo_lock {

// One line of JSON.
std::string lock_text(const RepoLockInfo& info);

// Total: any bytes give a holder or nothing. A `pid` that is missing or no integer is 0. A `created_at` that
// is missing, no moment or after `now` is replaced by `changed_at`. Fields that say where the process runs
// count as `here` where they are missing.
std::optional<RepoLockInfo> parse_lock_text(std::string_view text, WallTime changed_at, WallTime now,
                                            const Process& here);

// `cmd` as a lock file can hold it.
std::string presentable(std::string_view cmd);

}  // namespace leasehold::repo_lock
