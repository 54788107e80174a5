#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "util/descriptor.h"

namespace leasehold::repo_lock {

inline std::errc last_problem() { return static_cast<std::errc>(errno); }

// Whether two names lead to one file. Means nothing unless one of them is kept open: numbers are reused.
inline bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace leasehold::repo_lock
