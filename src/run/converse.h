#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

struct Conversation {
  std::vector<std::string> command;  // Program and arguments; looked up in PATH. Not empty.
  std::string input;                 // What it can read.
  std::string folder;                // Where it runs; empty: here.
  std::vector<std::string> without;  // Variables of ours that it does not get.
  Duration patience = std::chrono::seconds(10);
};

struct Said {
  std::string out;
  std::string err;
  int exit_status = 0;  // As a shell has it: 128 + n after signal n.
};

// Runs a program to its end and returns what it says. Errors: unavailable (it cannot be run), timeout (it was
// killed, with all that it started and did not put elsewhere).
Result<Said> converse(const Conversation& conversation);

}  // namespace leasehold
