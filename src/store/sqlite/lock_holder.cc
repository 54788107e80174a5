#include "store/sqlite/lock_holder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <sstream>

#include "util/read_file.h"

namespace leasehold::sqlite {
namespace {

constexpr std::size_t kLocksBytesMax = 1 << 20;

}  // namespace

std::optional<pid_t> lock_holder(const std::string& path, std::string_view kind) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return std::nullopt;
  const std::string wanted =
      fmt::format("{:02x}:{:02x}:{}", major(file.st_dev), minor(file.st_dev), file.st_ino);
  std::istringstream lines(read_file("/proc/locks", kLocksBytesMax).value_or(""));
  // "1: POSIX  ADVISORY  WRITE 42 fd:00:1234 120 120"; who waits for it has an arrow in the second place.
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, word, manner, access, place;
    pid_t pid = 0;
    if (!(words >> number >> word >> manner >> access >> pid >> place)) continue;
    if (word == kind && access == "WRITE" && place == wanted && pid > 0 && pid != getpid()) return pid;
  }
  return std::nullopt;
}

std::string named_process(std::string_view pid) {
  std::string name = read_file(fmt::format("/proc/{}/comm", pid), 64).value_or("unknown");
  while (name.ends_with('\n')) name.pop_back();
  return fmt::format("process {} ({})", pid, name);
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace leasehold::sqlite
