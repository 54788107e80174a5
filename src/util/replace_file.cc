#include "util/replace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "util/descriptor.h"
#include "util/write_all.h"

namespace leasehold {

std::expected<void, std::errc> replace_file(const std::string& path, std::string_view text, Outlives what) {
  const std::string beside = fmt::format("{}.{}", path, ::getpid());
  const Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return std::unexpected(static_cast<std::errc>(errno));
  std::errc failed = write_all(file.number(), text);
  const auto must = [&](auto call) {
    if (failed == std::errc() && call() != 0) failed = static_cast<std::errc>(errno);
  };
  if (what == Outlives::power_cut) must([&] { return ::fsync(file.number()); });
  must([&] { return ::rename(beside.c_str(), path.c_str()); });
  if (failed == std::errc()) return {};
  ::unlink(beside.c_str());
  return std::unexpected(failed);
}

}  // namespace leasehold
