#include "hook/pid_namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

#include "util/descriptor.h"
#include "util/path_text.h"
#include "util/read_file.h"

namespace leasehold {
namespace {

constexpr std::size_t kBytesMax = 65536;
// The kernel's first one (PROC_PID_INIT_INO): that of the machine itself.
constexpr std::uint64_t kFirstNamespace = 0xEFFFFFFC;

}  // namespace

bool is_shared_between_namespaces(const std::string& folder, const Machine& machine) {
  if (machine.boot_id.empty() || machine.pid_namespace == 0) return false;
  const std::string path = join(folder, "pid_namespaces");
  const std::string own = fmt::format("{} {}\n", machine.boot_id, machine.pid_namespace);
  const auto text = read_file(path, kBytesMax);
  bool is_noted = false;
  bool are_others = false;
  for (std::string_view rest = text ? std::string_view(*text) : ""; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end == std::string_view::npos ? end : end + 1);
    if (line == own) {
      is_noted = true;
    } else if (line.ends_with('\n') && line.starts_with(machine.boot_id)) {
      are_others = true;
    }
    rest.remove_prefix(line.size());
  }
  if (is_noted) return are_others;
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  [[maybe_unused]] const auto written = ::write(file.number(), own.data(), own.size());
  return are_others;
}

bool is_container_with_shared_folder(const std::string& folder, const Machine& machine) {
  if (machine.pid_namespace == 0 || machine.pid_namespace == kFirstNamespace) return false;
  struct statfs root{};
  struct stat around{};
  struct stat within{};
  const bool is_own = ::statfs("/", &root) == 0 && root.f_type == OVERLAYFS_SUPER_MAGIC &&
                      ::stat("/", &around) == 0 && ::stat(folder.c_str(), &within) == 0 &&
                      around.st_dev == within.st_dev;
  return !is_own;
}

}  // namespace leasehold
