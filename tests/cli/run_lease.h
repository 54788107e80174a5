// Runs the real `lease` and catches what it says.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace leasehold {

struct Ran {
  int exit = -1;  // -1: it did not end by itself.
  std::string out;
  std::string err;
};

// A file that is gone when the test is over.
class ScratchFile {
 public:
  ScratchFile() : fd_(mkstemp(path_.data())) { EXPECT_GE(fd_, 0); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    close(fd_);
    unlink(path_.c_str());
  }

  int fd() const { return fd_; }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_ = testing::TempDir() + "leasehold-cli-XXXXXX";
  int fd_;
};

struct How {
  std::vector<std::string> environment;  // NAME=value, besides PATH.
  std::string out;                       // Where its output goes, if it is not to be caught.
  std::string cwd;                       // Empty: the test's own.
  std::string in;                        // What it reads.
};

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

inline Ran run_lease(std::vector<std::string> arguments, How how = {}) {
  arguments.insert(arguments.begin(), LEASE_BINARY);
  how.environment.push_back("PATH=/usr/bin:/bin");
  const ScratchFile out;
  const ScratchFile err;
  const int out_fd = how.out.empty() ? dup(out.fd()) : open(how.out.c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_GE(out_fd, 0);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const ScratchFile in;
  EXPECT_EQ(pwrite(in.fd(), how.in.data(), how.in.size(), 0), static_cast<ssize_t>(how.in.size()));
  posix_spawn_file_actions_adddup2(&actions, in.fd(), STDIN_FILENO);
  if (!how.cwd.empty()) posix_spawn_file_actions_addchdir_np(&actions, how.cwd.c_str());
  posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.fd(), STDERR_FILENO);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, LEASE_BINARY, &actions, nullptr, pointers(arguments).data(),
                                 pointers(how.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out_fd);
  EXPECT_EQ(failed, 0);
  int status = 0;
  if (failed != 0 || waitpid(pid, &status, 0) != pid) return {};
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.text(), err.text()};
}

}  // namespace leasehold
