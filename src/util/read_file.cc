#include "util/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "util/descriptor.h"

namespace leasehold {

std::expected<std::string, std::errc> read_to_end(int fd, std::size_t bytes_max) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(static_cast<std::errc>(errno));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > bytes_max) return std::unexpected(std::errc::file_too_large);
  }
}

std::expected<std::string, std::errc> read_file(const std::string& path, std::size_t bytes_max) {
  // O_NONBLOCK: a FIFO of that name must not stop us; a regular file does not care.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return std::unexpected(static_cast<std::errc>(errno));
  return read_to_end(file.number(), bytes_max);
}

}  // namespace leasehold
