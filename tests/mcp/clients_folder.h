#pragma once

#include "cli/started_program.h"

namespace leasehold {

// Where tests/mcp/install put the official clients. Empty: they are not there, and npm cannot be reached.
inline std::string clients_folder() {
  constexpr int kNotReachable = 75;
  static const Ran found = [] {
    std::vector<std::string> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
    return StartedProgram({MCP_FOLDER "/install"}, environment).wait();
  }();
  if (found.exit == kNotReachable) return {};
  EXPECT_EQ(found.exit, 0) << found.err;
  return found.out.substr(0, found.out.find('\n'));
}

// What is installed there is run with its own Node.
inline Ran run_there(const std::vector<std::string>& arguments, const std::string& home) {
  std::vector<std::string> command = {clients_folder() + "/node22"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return StartedProgram(command, {"PATH=/usr/bin:/bin", "HOME=" + home}, home).wait();
}

}  // namespace leasehold
