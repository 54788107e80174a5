#include "run/converse.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "util/descriptor.h"
#include "util/read_file.h"

namespace leasehold {
namespace {

std::unexpected<Error> cannot_run(const std::string& program, int error) {
  return fail(Code::unavailable, fmt::format("Cannot run {}: {}.", program, std::strerror(error)));
}

// A file without a name: neither side waits for the other, as with pipes.
Descriptor sheet() { return Descriptor(::memfd_create("lease", MFD_CLOEXEC)); }

std::string text_of(const Descriptor& file) {
  constexpr std::size_t kBytesMax = std::size_t{1} << 20;
  ::lseek(file.number(), 0, SEEK_SET);
  return read_to_end(file.number(), kBytesMax).value_or("");
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_without(const std::vector<std::string>& names) {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string one = *entry;
    const auto is_named = [&](const std::string& name) { return one.starts_with(name + '='); };
    if (std::ranges::none_of(names, is_named)) kept.push_back(one);
  }
  return kept;
}

// False: it did not end in time.
bool ends_within(pid_t child, Duration patience) {
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!process.is_open()) return true;  // Such a system cannot tell; then it is waited for.
  pollfd end = {.fd = process.number(), .events = POLLIN, .revents = 0};
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const int ready = ::poll(&end, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

}  // namespace

Result<Said> converse(const Conversation& conversation) {
  const std::string& program = conversation.command.front();
  const Descriptor in = sheet();
  const Descriptor out = sheet();
  const Descriptor err = sheet();
  const auto size = static_cast<ssize_t>(conversation.input.size());
  if (::write(in.number(), conversation.input.data(), conversation.input.size()) != size)
    return cannot_run(program, errno);
  ::lseek(in.number(), 0, SEEK_SET);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.number(), STDERR_FILENO);
  if (!conversation.folder.empty())
    posix_spawn_file_actions_addchdir_np(&actions, conversation.folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // To kill all of it, if need be.
  const std::vector<std::string> variables = environment_without(conversation.without);
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, &attributes,
                                 pointers(conversation.command).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return cannot_run(program, error);

  const bool in_time = ends_within(child, conversation.patience);
  if (!in_time) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return fail(Code::timeout, fmt::format("{} did not end in time.", program));
  return Said{text_of(out), text_of(err), WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace leasehold
