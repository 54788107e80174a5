// Runs a command under something that can be lost, and gives back its status.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/lease.h"

namespace leasehold {

struct ChildProcess {
  std::vector<std::string> command;  // Program and arguments; looked up in PATH. Not empty.
  std::vector<std::pair<std::string, std::string>> variables;  // Set for it, besides our own.

  // Whether what protects the command is gone. Asked whenever `wake` (a descriptor; it has to drain it) can
  // be read, and at least every `look_every`. Once true, the command and all its descendants are ended:
  // SIGTERM, and SIGKILL after `grace`.
  std::function<bool()> is_lost;
  int wake = -1;
  Duration look_every = std::chrono::seconds(1);
  // Time to roll back, or to write down where it stopped; whoever took over does not wait for it.
  Duration grace = std::chrono::seconds(5);
};

struct ChildEnd {
  int exit_status = 0;      // As a shell has it: 128 + n after signal n, 127 not found, 126 cannot be run.
  bool is_lost = false;     // It was ended because is_lost() said so.
  std::string not_started;  // Why it could not be started; empty: it was.
};

// Runs the command to its end. It shares the terminal and the process group of this process, so what the
// terminal sends (Ctrl-C, Ctrl-Z, hang-up) reaches both; of what is sent to this process alone, HUP, INT,
// QUIT, TERM, USR1 and USR2 are passed on. Signals that were ignored stay ignored. If this process is killed,
// the command gets SIGTERM.
//
// For programs: while it runs it owns those signals, SIGCHLD and SIGPIPE, and reaps every child there is. One
// call at a time, on the main thread; other threads may run.
ChildEnd supervise(const ChildProcess& child);

}  // namespace leasehold
