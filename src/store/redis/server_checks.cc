#include "store/redis/server_checks.h"

#include <fmt/format.h>

#include "store/redis/keys.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

// What this store is tested with.
constexpr int kOldestTested = 70000;
// EXEC notices keys that expired (6.0.9), COPY and PXAT exist (6.2).
constexpr int kOldestPossible = 60200;

std::string shown_version(int version) {
  return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

// The value of a line "name:value" of INFO.
std::string_view field(std::string_view info, std::string_view name) {
  for (std::size_t at = info.find(name); at != std::string_view::npos; at = info.find(name, at + 1)) {
    const std::size_t value = at + name.size();
    const bool starts_line = at == 0 || info[at - 1] == '\n';
    if (starts_line && value < info.size() && info[value] == ':')
      return info.substr(value + 1, info.find_first_of("\r\n", value) - value - 1);
  }
  return {};
}

// A release sends about 2 KB for each lease.
constexpr std::string_view kLastOfSpare = "1048575";

}  // namespace

bool keep_spare(Connection& connection) {
  connection.add({"SETRANGE", kSpareKey, kLastOfSpare, "0"});
  return !connection.exchange().front().view().is_error();
}

bool drop_spare(Connection& connection) {
  connection.add({"DEL", kSpareKey});
  return connection.exchange().front().view().integer() == 1;
}

Result<std::vector<std::string>> check_server(Connection& connection) {
  const std::string where = connection.address().shown();
  if (connection.server_version() < kOldestPossible) {
    return fail(Code::config_error,
                fmt::format("Redis at {} has version {}; at least {} is needed. Upgrade it.", where,
                            shown_version(connection.server_version()), shown_version(kOldestTested)));
  }
  if (connection.mode() == "cluster") {
    return fail(
        Code::config_error,
        fmt::format(
            "Redis at {} is part of a cluster, which cannot change several files at one moment. Use a "
            "server of its own.",
            where));
  }
  std::vector<std::string> warnings;
  if (connection.server_version() < kOldestTested) {
    warnings.push_back(fmt::format("Redis at {} has version {}; this is tested with {} and later.", where,
                                   shown_version(connection.server_version()), shown_version(kOldestTested)));
  }
  if (connection.role() != "master") {
    warnings.push_back(fmt::format(
        "Redis at {} is a replica: nothing can be leased there. Use the URL of the primary.", where));
  }
  try {
    connection.add({"INFO", "memory"});
    connection.add({"INFO", "persistence"});
    connection.add({"CONFIG", "GET", "save"});
    const std::vector<Reply> replies = connection.exchange();
    if (replies[0].view().is_error() || replies[1].view().is_error()) {
      warnings.push_back(
          fmt::format("Redis at {} does not say whether it may evict leases, nor whether it keeps them on "
                      "disk ({}). Give the user the right +info.",
                      where, in_sentence(replies[0].view().text())));
      return warnings;
    }
    const std::string_view policy = field(replies[0].view().text(), "maxmemory_policy");
    if (!policy.empty() && policy != "noeviction") {
      warnings.push_back(
          fmt::format("Redis at {} may evict leases when its memory is full (maxmemory-policy {}): an "
                      "evicted lease is given to the next who asks. Set maxmemory-policy noeviction.",
                      where, policy));
    }
    const std::string_view limit = field(replies[0].view().text(), "maxmemory");
    if (!limit.empty() && limit != "0") keep_spare(connection);
    const bool log = field(replies[1].view().text(), "aof_enabled") == "1";
    // Nothing is known of snapshots if CONFIG may not be asked.
    const bool no_snapshots = replies[2].view().size() == 2 && replies[2][1].text().empty();
    if (!log && no_snapshots) {
      warnings.push_back(
          fmt::format("Redis at {} keeps nothing on disk: when it restarts, all leases are gone. Set "
                      "appendonly yes.",
                      where));
    } else if (!log) {
      warnings.push_back(
          fmt::format("Redis at {} writes snapshots only: when it restarts, the leases since the last one "
                      "are gone. Set appendonly yes.",
                      where));
    }
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
  return warnings;
}

}  // namespace leasehold::redis
