// SQLite without the store around it: to look at its files, and to spoil them. For targets that link SQLite.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

namespace leasehold {

// Runs `sql` on a file, which is made if missing, and returns the rows as text: columns separated by '|',
// each row ended by '\n', NULL as "NULL". An error is returned in place of rows: "error: ...".
inline std::string run_sql(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  std::string rows;
  const auto add_row = [](void* to, int count, char** values, char**) {
    auto& text = *static_cast<std::string*>(to);
    for (int i = 0; i < count; ++i) {
      if (i > 0) text += '|';
      text += values[i] != nullptr ? values[i] : "NULL";
    }
    text += '\n';
    return 0;
  };
  if (sqlite3_open(path.c_str(), &handle) == SQLITE_OK) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_wal_autocheckpoint(handle, 0);
    sqlite3_busy_timeout(handle, 5'000);
    sqlite3_exec(handle, sql.c_str(), add_row, &rows, nullptr);
  }
  if (sqlite3_errcode(handle) != SQLITE_OK) rows = std::string("error: ") + sqlite3_errmsg(handle);
  sqlite3_close(handle);
  return rows;
}

}  // namespace leasehold
