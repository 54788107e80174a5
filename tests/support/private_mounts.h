// File systems that only one process sees, so that tests can have full and read-only ones.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace leasehold {

inline bool write_small_file(const char* path, std::string_view text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return written;
}

// From here on what this process mounts is seen by nobody else. As root that needs nothing; others become
// root in a user namespace of their own. The process must have one thread only. False: the system forbids it.
inline bool enter_private_mounts() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (user != 0 || ::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (!write_small_file("/proc/self/uid_map", fmt::format("0 {} 1", user))) return false;
    if (!write_small_file("/proc/self/setgroups", "deny")) return false;
    if (!write_small_file("/proc/self/gid_map", fmt::format("0 {} 1", group))) return false;
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// What a child process answers when the system does not let it do what the test needs.
inline constexpr std::string_view kRefused = "refused: ";

inline std::string refusal(std::string_view what) {
  return fmt::format("{}{}: {}", kRefused, what, std::strerror(errno));
}

// clang-format off
#define SKIP_IF_REFUSED(answer) if ((answer).starts_with(kRefused)) GTEST_SKIP() << (answer)
// clang-format on

}  // namespace leasehold
