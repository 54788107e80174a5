// What happens to leases, as lines of a log. Whoever opens a workspace says where they go.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"

namespace leasehold {

enum class LogLevel { info, warning };

struct LogRecord {
  LogLevel level = LogLevel::info;
  std::string event;  // acquired, queued, refused, renewed, released, upgraded, ..., or failed.
  std::string path;   // One, or several with blanks between; empty: all that the owner has.
  Owner owner;        // Whose lease it is.
  std::string pr_id;
  std::string trace;  // W3C traceparent of the request, or of the lease.
  LeaseId lease_id;
  Token token;
  std::size_t count = 1;  // Leases.
  std::string message;    // For people: why.
};

// Called by the thread that made the call, after it took effect; for each change of each lease, but once for
// a batch. Must be thread-safe, must not throw, and should return soon.
using LogSink = std::function<void(const LogRecord&)>;

// One line without its end: event=acquired path="/src/a.ts" agent=ann session=s1 trace=00-... What others may
// have written is quoted.
std::string log_line(const LogRecord& record);

}  // namespace leasehold
