#include "daemon/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>

#include "util/rfc3339.h"

namespace leasehold::daemon {
namespace {

std::string now_text() {
  return to_rfc3339(
      std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()));
}

std::string_view level_text(LogLevel level) { return level == LogLevel::warning ? "warning" : "info"; }

std::string without_line_ends(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return line;
}

thread_local std::vector<LogRecord> batch;

}  // namespace

thread_local std::vector<LogRecord>* Log::waiting_ = nullptr;

void Log::write(const std::string& line) {
  // One call for a line, so that lines of several threads do not mix.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void Log::say(LogLevel level, std::string_view message) {
  if (json_) {
    write(boost::json::serialize(
              boost::json::object{{"time", now_text()}, {"level", level_text(level)}, {"message", message}}) +
          "\n");
  } else {
    write(fmt::format("lease serve: {}\n", without_line_ends(message)));
  }
}

std::string Log::line_of(const LogRecord& record) const {
  if (!json_) return log_line(record) + "\n";
  boost::json::object line = {{"time", now_text()},
                              {"level", level_text(record.level)},
                              {"event", record.event},
                              {"path", record.path},
                              {"agent_id", record.owner.agent_id},
                              {"session_id", record.owner.session_id},
                              {"pr_id", record.pr_id},
                              {"trace", record.trace},
                              {"lease_id", record.lease_id.text},
                              {"token", record.token.value},
                              {"count", record.count},
                              {"message", record.message}};
  return boost::json::serialize(line) + "\n";
}

void Log::about_lease(const LogRecord& record) {
  if (!verbose_) return;
  if (waiting_ != nullptr) {
    waiting_->push_back(record);
  } else {
    write(line_of(record));
  }
}

void Log::begin_batch() {
  batch.clear();
  waiting_ = &batch;
}

void Log::end_batch(bool kept) {
  waiting_ = nullptr;
  if (!kept) return;
  std::string lines;
  for (const LogRecord& record : batch) lines += line_of(record);
  if (!lines.empty()) write(lines);
}

}  // namespace leasehold::daemon
