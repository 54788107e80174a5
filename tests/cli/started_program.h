// A program that still runs: tests look at it, signal it and then wait for its end.
#pragma once

#include <csignal>

#include "run_lease.h"

namespace leasehold {

class StartedProgram {
 public:
  // `command`: the program's path, and its arguments. It reads nothing.
  explicit StartedProgram(std::vector<std::string> command, std::vector<std::string> environment,
                          const std::string& cwd = {}) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (!cwd.empty()) posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out_.fd(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_.fd(), STDERR_FILENO);
    // Who runs the tests in the background may ignore some of these, and a shell keeps what it inherits.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t as_ever;
    sigemptyset(&as_ever);
    for (const int number : {SIGHUP, SIGINT, SIGQUIT}) sigaddset(&as_ever, number);
    posix_spawnattr_setsigdefault(&attributes, &as_ever);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    EXPECT_EQ(posix_spawn(&pid_, command.front().c_str(), &actions, &attributes, pointers(command).data(),
                          pointers(environment).data()),
              0)
        << command.front();
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;
  ~StartedProgram() {
    signal(SIGKILL);
    (void)wait();
  }

  pid_t pid() const { return pid_; }
  std::string out() const { return out_.text(); }
  std::string err() const { return err_.text(); }
  void signal(int number) const {
    if (pid_ > 0) kill(pid_, number);
  }
  Ran wait() {
    int status = 0;
    if (pid_ <= 0 || waitpid(pid_, &status, 0) != pid_) return {};
    pid_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out_.text(), err_.text()};
  }

 private:
  const ScratchFile out_;
  const ScratchFile err_;
  pid_t pid_ = 0;
};

}  // namespace leasehold
