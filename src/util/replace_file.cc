#include "util/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "util/descriptor.h"
#include "util/write_all.h"

namespace leasehold {

std::expected<void, std::errc> replace_file(const std::string& path, std::string_view text) {
  const auto problem = [] { return std::unexpected(static_cast<std::errc>(errno)); };
  const std::string beside = path + ".new";
  const Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return problem();
  if (const std::errc failed = write_all(file.number(), text); failed != std::errc())
    return std::unexpected(failed);
  if (::fsync(file.number()) != 0 || ::rename(beside.c_str(), path.c_str()) != 0) return problem();
  return {};
}

}  // namespace leasehold
