// For tests: real processes.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "util/check.h"

namespace leasehold {

// A child that runs `work` and then ends. Killed and reaped at the latest with this object. What `work`
// returns can be read by the parent, so that a test's expectations stay in the test's own process.
class Child {
 public:
  using Work = std::function<std::string()>;

  // With CLONE_NEW... it starts in new namespaces, unless the system refuses that.
  explicit Child(const Work& work, unsigned long namespaces = 0) {
    int ends[2];
    LEASEHOLD_CHECK(::pipe2(ends, O_CLOEXEC) == 0);  // Not for the programs that `work` runs.
    pid_ = namespaces == 0
               ? ::fork()
               : static_cast<pid_t>(::syscall(SYS_clone, namespaces | SIGCHLD, nullptr, nullptr, nullptr, 0));
    if (pid_ < 0) refused_ = errno;
    if (pid_ == 0) {
      ::close(ends[0]);
      tell(ends[1], work());
      ::_exit(0);
    }
    ::close(ends[1]);
    answer_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill();
    reap();
    ::close(answer_);
  }

  // Does nothing, for ever.
  static std::string rest() {
    for (;;) ::pause();
  }

  // Why it could not be started, as errno says; 0: it was.
  int refused() const { return refused_; }
  pid_t pid() const { return pid_; }

  void kill() const {
    if (is_ours()) ::kill(pid_, SIGKILL);
  }
  // Waits for its end and leaves the zombie.
  void wait() const {
    siginfo_t ignored{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &ignored, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
  }
  void reap() {
    while (is_ours() && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
  }

  // What its work returned; waits for that.
  std::string answer() const {
    std::string text;
    char buffer[256];
    for (;;) {
      const ssize_t count = ::read(answer_, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(count));
    }
  }

 private:
  // A pid that was reaped may be anybody's, and -1 is everybody's.
  bool is_ours() const { return pid_ > 0 && !reaped_; }

  static void tell(int file, const std::string& text) {
    for (std::size_t told = 0; told < text.size();) {
      const ssize_t count = ::write(file, text.data() + told, text.size() - told);
      if (count < 0 && errno != EINTR) return;
      if (count > 0) told += static_cast<std::size_t>(count);
    }
  }

  pid_t pid_ = -1;
  int refused_ = 0;
  int answer_ = -1;
  bool reaped_ = false;
};

}  // namespace leasehold
