#include "repo_lock/lock_text.h"

#include <boost/json.hpp>

#include "util/rfc3339.h"
#include "util/utf8.h"

namespace leasehold::repo_lock {
namespace {

namespace json = boost::json;

// Enough to recognise a command by.
constexpr std::size_t kCmdBytesMax = 1024;

template <class T>
std::optional<T> field(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return std::nullopt;
  const auto read = json::try_value_to<T>(*value);
  if (!read) return std::nullopt;
  return *read;
}

std::optional<Process> process_in(const json::object& object, std::int64_t pid, const Process& here) {
  const auto start_time = field<std::uint64_t>(object, "start_time");
  if (!start_time) return std::nullopt;
  return Process{.machine_id = field<std::string>(object, "machine_id").value_or(here.machine_id),
                 .boot_id = field<std::string>(object, "boot_id").value_or(here.boot_id),
                 .pid_namespace = field<std::uint64_t>(object, "pid_namespace").value_or(here.pid_namespace),
                 .pid = pid,
                 .start_time = *start_time};
}

}  // namespace

std::string lock_text(const RepoLockInfo& info) {
  json::object object = {{"pid", info.pid}, {"created_at", to_rfc3339(info.created_at)}};
  if (!info.cmd.empty()) object["cmd"] = info.cmd;
  if (info.process) {
    object["start_time"] = info.process->start_time;
    object["pid_namespace"] = info.process->pid_namespace;
    object["boot_id"] = info.process->boot_id;
    object["machine_id"] = info.process->machine_id;
  }
  return json::serialize(object) + '\n';
}

std::optional<RepoLockInfo> parse_lock_text(std::string_view text, WallTime changed_at, WallTime now,
                                            const Process& here) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  const json::object& object = value.get_object();
  const std::int64_t pid = field<std::int64_t>(object, "pid").value_or(0);

  auto created_at = parse_rfc3339(field<std::string>(object, "created_at").value_or(""));
  if (!created_at || *created_at > now) created_at = changed_at;
  return RepoLockInfo{.pid = pid,
                      .created_at = *created_at,
                      .cmd = field<std::string>(object, "cmd").value_or(""),
                      .process = pid != 0 ? process_in(object, pid, here) : std::nullopt};
}

std::string presentable(std::string_view cmd) {
  std::string text = invalid_utf8_at(cmd) ? in_quotes(cmd) : std::string(cmd);
  if (text.size() <= kCmdBytesMax) return text;
  text.resize(kCmdBytesMax);
  // Not in the middle of a character.
  if (const auto cut = invalid_utf8_at(text)) text.resize(*cut);
  return text + "...";
}

}  // namespace leasehold::repo_lock
