// What is remembered of sessions: how often they asked, and what they got and did not give back.
#include <fmt/format.h>

#include "store/sqlite/rows.h"
#include "store/sqlite/transaction.h"
#include "util/utf8.h"

namespace leasehold::sqlite {

std::optional<RateWindow> SqliteTransaction::rate_window(const std::string& session_id) {
  Query row = connection_.query(
      "SELECT calls, ends_ns FROM rate_windows WHERE workspace = ? AND session_id = ? AND ends_ns > ?");
  if (!row.bind_all(alias_, session_id, to_column(now_)).step()) return std::nullopt;
  RateWindow window = {.session_id = session_id};
  window.calls = static_cast<std::size_t>(std::max<std::int64_t>(row.integer(), 0));
  window.ends_at = Time(Time::duration(row.integer()));
  return window;
}

void SqliteTransaction::put(const RateWindow& window) {
  connection_
      .query(
          "INSERT OR REPLACE INTO rate_windows (workspace, session_id, calls, ends_ns) VALUES (?, ?, ?, ?)")
      .bind_all(alias_, window.session_id, static_cast<std::int64_t>(window.calls), to_column(window.ends_at))
      .run();
}

SessionPaths SqliteTransaction::session_paths(const std::string& session_id) {
  Query rows = connection_.query(
      "SELECT file_path, subtree, mode, drop_us FROM session_locks WHERE workspace = ? AND session_id = ? AND"
      " (drop_us IS NULL OR drop_us > ?) ORDER BY file_path, subtree");
  rows.bind_all(alias_, session_id, to_column(wall_));
  SessionPaths found;
  while (rows.step()) {
    SessionPath path = {.session_id = session_id};
    path.path = rows.text();
    path.subtree = rows.integer() != 0;
    const std::string_view mode = rows.text();
    const auto known = from_word<Mode>(mode);
    if (!known) {
      found.invalid.push_back(fmt::format("{}: there is no mode {}", in_quotes(path.path), in_quotes(mode)));
      continue;
    }
    path.mode = *known;
    if (const auto drop = rows.maybe_integer()) path.drop_at = WallTime(WallTime::duration(*drop));
    found.paths.push_back(std::move(path));
  }
  return found;
}

void SqliteTransaction::put(const SessionPath& path) {
  connection_
      .query(
          "INSERT OR REPLACE INTO session_locks (workspace, session_id, file_path, subtree, mode, drop_us)"
          " VALUES (?, ?, ?, ?, ?, ?)")
      .bind_all(alias_, path.session_id, path.path, std::int64_t{path.subtree}, word(path.mode),
                path.drop_at ? std::optional(to_column(*path.drop_at)) : std::nullopt)
      .run();
}

void SqliteTransaction::erase(const SessionPath& path) {
  connection_
      .query(
          "DELETE FROM session_locks WHERE workspace = ? AND session_id = ? AND file_path = ? AND subtree = "
          "?")
      .bind_all(alias_, path.session_id, path.path, std::int64_t{path.subtree})
      .run();
}

}  // namespace leasehold::sqlite
