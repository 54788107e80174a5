// Where the programs are that these tests run.
#pragma once

#include "cli/started_program.h"

namespace leasehold {

inline constexpr const char* kNoAgents = "they are not installed, and npm cannot be reached";

// Installed when the first test asks. Empty: there are none, and npm cannot be reached. Anything else that
// goes wrong is a failure.
inline std::string agents_folder() {
  constexpr int kNotReachable = 75;
  static const Ran found = [] {
    std::vector<std::string> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
    return StartedProgram({AGENTS_FOLDER "/install"}, environment).wait();
  }();
  if (found.exit == kNotReachable) return {};
  EXPECT_EQ(found.exit, 0) << found.err;
  return found.out.substr(0, found.out.find('\n'));
}

}  // namespace leasehold
