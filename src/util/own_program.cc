#include "util/own_program.h"

#include <unistd.h>

#include <climits>

namespace leasehold {

std::string own_program() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace leasehold
