// What the daemon writes to standard error: one line for each thing, as text or as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leasehold/log.h"

namespace leasehold::daemon {

// Thread-safe.
class Log {
 public:
  Log(bool json, bool verbose) : json_(json), verbose_(verbose) {}

  // About the server itself.
  void say(LogLevel level, std::string_view message);
  // About a lease. While a batch is being made, lines wait: what is not kept did not happen.
  void about_lease(const LogRecord& record);

  void begin_batch();
  void end_batch(bool kept);

 private:
  void write(const std::string& line);
  std::string line_of(const LogRecord& record) const;

  const bool json_;
  const bool verbose_;
  static thread_local std::vector<LogRecord>* waiting_;
};

}  // namespace leasehold::daemon
