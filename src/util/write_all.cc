#include "util/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace leasehold {

std::errc write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return static_cast<std::errc>(errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace leasehold
