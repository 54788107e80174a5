#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace leasehold {

// Where this process runs: what a pid and a start time have to be read together with.
struct Machine {
  std::string machine_id;           // Empty: it has none (many containers).
  std::string boot_id;              // One per running kernel. Empty: cannot be read.
  std::uint64_t pid_namespace = 0;  // Two containers both have a pid 7. 0: cannot be read.

  // How much this process's time namespace adds to the start times it reads in /proc.
  std::chrono::nanoseconds boottime_offset{};

  bool operator==(const Machine&) const = default;
};

// What the files below `root` say about the machine. What cannot be read, or is not what it should be, stays
// empty. A few system calls; nothing of it changes while a process lives, so once is enough.
Machine read_machine(const std::string& root = "/");

}  // namespace leasehold
