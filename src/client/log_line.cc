#include <fmt/format.h>

#include "leasehold/log.h"
#include "util/utf8.h"

namespace leasehold {

std::string log_line(const LogRecord& record) {
  std::string line =
      fmt::format("level={} event={}", record.level == LogLevel::info ? "info" : "warning", record.event);
  const auto add = [&](std::string_view name, std::string_view text) {
    if (!text.empty()) line += fmt::format(" {}={}", name, in_quotes(text));
  };
  add("path", record.path);
  add("agent", record.owner.agent_id);
  add("session", record.owner.session_id);
  add("pr", record.pr_id);
  add("trace", record.trace);
  add("lease", record.lease_id.text);
  if (record.token.value != 0) line += fmt::format(" token={}", record.token.value);
  if (record.count != 1) line += fmt::format(" count={}", record.count);
  add("message", record.message);
  return line;
}

}  // namespace leasehold
