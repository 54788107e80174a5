#include "cli/run_stand_in.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "env/machine.h"
#include "env/processes.h"
#include "util/descriptor.h"

namespace leasehold {
namespace {

// Until all who run under the leases are gone. Other threads of this program may have been in the middle of
// anything when it was forked, so only plain system calls are made here.
[[noreturn]] void stand_in(const std::vector<Descriptor>& marks) {
  ::prctl(PR_SET_NAME, "lease-stand-in");
  // Whoever started it waits until nobody has its pipes any more.
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
  int last = STDERR_FILENO;
  for (const Descriptor& mark : marks) {  // In rising order.
    if (mark.number() > last + 1)
      ::close_range(static_cast<unsigned>(last) + 1, static_cast<unsigned>(mark.number()) - 1, 0);
    last = mark.number();
  }
  ::close_range(static_cast<unsigned>(last) + 1, ~0U, 0);
  [[maybe_unused]] const int moved = ::chdir("/");
  for (const Descriptor& mark : marks) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
    if (::fcntl(mark.number(), F_OFD_SETLKW, &all) != 0) break;
  }
  ::_exit(0);
}

}  // namespace

std::optional<Process> start_stand_in(const std::vector<std::string>& marks) {
  std::vector<Descriptor> files;
  for (const std::string& mark : marks) {
    files.emplace_back(::open(mark.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!files.back().is_open()) return std::nullopt;
  }
  std::ranges::sort(files, {}, [](const Descriptor& file) { return file.number(); });
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  // In a session of its own, and nobody's child: what ends the command must not end it.
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const pid_t pid = ::fork();
    if (pid == 0) stand_in(files);
    const bool is_told = ::write(writing.number(), &pid, sizeof pid) == sizeof pid;
    ::_exit(is_told ? 0 : 1);
  }
  writing = Descriptor();
  if (child < 0) return std::nullopt;
  ::waitpid(child, nullptr, 0);
  pid_t pid = -1;
  if (::read(reading.number(), &pid, sizeof pid) != sizeof pid || pid <= 0) return std::nullopt;
  return process_with_pid(read_machine(), pid);
}

}  // namespace leasehold
