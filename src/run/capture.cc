#include "run/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "util/read_file.h"

namespace leasehold {
namespace {

std::unexpected<Error> cannot_run(const std::string& program, int error) {
  return fail(Code::unavailable, fmt::format("Cannot run {}: {}.", program, std::strerror(error)));
}

}  // namespace

Result<std::string> capture(const std::vector<std::string>& command, const std::string& folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return cannot_run(command.front(), errno);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text = error == 0 ? read_to_end(ends[0], SIZE_MAX).value_or("") : "";
  close(ends[0]);
  if (error != 0) return cannot_run(command.front(), error);

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    return fail(Code::unavailable,
                fmt::format("{} {} failed.", command.front(), command.size() > 1 ? command[1] : ""));
  }
  return text;
}

}  // namespace leasehold
