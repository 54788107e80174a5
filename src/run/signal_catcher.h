#pragma once

#include <sys/types.h>

#include <csignal>
#include <map>
#include <optional>

namespace leasehold {

// A signal, and whether it was sent to this process in particular. What the terminal sends goes to the whole
// process group.
struct CaughtSignal {
  int number = 0;
  bool is_from_terminal = false;
};

// Catches signals while it exists, whichever thread they come to, and makes them readable. There may be one
// at a time.
class SignalCatcher {
 public:
  // SIGCHLD, SIGPIPE (which is dropped) and those that are passed on to a child.
  SignalCatcher();
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;
  ~SignalCatcher();

  // For poll(2).
  int descriptor() const { return pipe_[0]; }

  // Nothing: no more for now.
  std::optional<CaughtSignal> next() const;

  // As it was before, for a child between fork and exec.
  void restore_dispositions() const;

 private:
  void catch_one(int number);

  int pipe_[2] = {-1, -1};
  std::map<int, struct sigaction> before_;
};

}  // namespace leasehold
