// The real `lease`, still running: tests look at it, signal it and then wait for its end.
#pragma once

#include <csignal>

#include "run_lease.h"

namespace leasehold {

class StartedLease {
 public:
  explicit StartedLease(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                        const std::string& cwd = {}) {
    arguments.insert(arguments.begin(), LEASE_BINARY);
    environment.push_back("PATH=/usr/bin:/bin");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (!cwd.empty()) posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
    posix_spawn_file_actions_adddup2(&actions, out_.fd(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_.fd(), STDERR_FILENO);
    EXPECT_EQ(posix_spawn(&pid_, LEASE_BINARY, &actions, nullptr, pointers(arguments).data(),
                          pointers(environment).data()),
              0);
    posix_spawn_file_actions_destroy(&actions);
  }
  StartedLease(const StartedLease&) = delete;
  StartedLease& operator=(const StartedLease&) = delete;
  ~StartedLease() {
    signal(SIGKILL);
    (void)wait();
  }

  pid_t pid() const { return pid_; }
  void signal(int number) const {
    if (pid_ > 0) kill(pid_, number);
  }
  std::string out() const { return out_.text(); }  // So far.
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
