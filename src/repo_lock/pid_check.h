#pragma once

#include "leasehold/repo_lock.h"

namespace leasehold::repo_lock {

// What this machine's /proc says about a lock's holder. A holder that is not described beyond its pid is
// judged by the pid alone.
Verdict check_pid(const RepoLockInfo& holder);

}  // namespace leasehold::repo_lock
