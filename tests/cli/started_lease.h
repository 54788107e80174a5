// The real `lease`, still running.
#pragma once

#include "started_program.h"

namespace leasehold {

class StartedLease : public StartedProgram {
 public:
  explicit StartedLease(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                        const std::string& cwd = {})
      : StartedProgram(with(std::move(arguments), LEASE_BINARY, true),
                       with(std::move(environment), "PATH=/usr/bin:/bin", false), cwd) {}

 private:
  static std::vector<std::string> with(std::vector<std::string> list, const char* item, bool first) {
    list.insert(first ? list.begin() : list.end(), item);
    return list;
  }
};

}  // namespace leasehold
