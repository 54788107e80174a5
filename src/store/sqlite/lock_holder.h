// For messages: who is in the way.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace leasehold::sqlite {

// The process, other than this one, that has a file locked for writing, as /proc/locks has it. `kind` is its
// word there: FLOCK, POSIX. Nothing: nobody, or nobody who can be seen from here. Does not open the file: to
// close it again would drop the locks that SQLite has on it in this process.
std::optional<pid_t> lock_holder(const std::string& path, std::string_view kind);

// "process 42 (sleep)".
std::string named_process(std::string_view pid);

bool is_gone(pid_t pid);

}  // namespace leasehold::sqlite
