// One connection to SQLite: its statements, its rows, its errors. Nothing here knows what a lease is.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::sqlite {

// Thrown by whatever fails below a call of the store, and caught by that call only.
struct Failure {
  Error error;
  int sqlite_code = 0;  // Extended; 0 if SQLite itself did not fail.
};

// A row that cannot be what we wrote.
[[noreturn]] void throw_corrupt(std::string_view what);

// One use of a prepared statement. Values are bound, and columns read, in the order they stand in the SQL.
class Query {
 public:
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  // Text is not copied: it must live until the last step().
  Query& bind(std::string_view value);
  Query& bind(std::int64_t value);
  Query& bind(std::optional<std::int64_t> value);
  Query& bind_null();
  template <class... Values>
  Query& bind_all(const Values&... values) {
    (bind(values), ...);
    return *this;
  }

  // True: a row is there to be read.
  bool step();
  // For statements that return no rows.
  void run();

  std::string_view text();  // Valid until the next step(). NULL reads as empty.
  std::int64_t integer();
  std::optional<std::int64_t> maybe_integer();

 private:
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int column_ = 0;
};

// Not thread-safe: one thread at a time.
class Connection {
 public:
  // Opens an existing file. `alone`: as the only one, others wait as long as it is open; needs no index of
  // the log on the disk. Error: unavailable.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, const char* vfs, bool alone);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // `sql` is a literal: the statement is prepared once and found again by its address.
  Query query(const char* sql);
  // For what is said once: schema changes, pragmas.
  void execute(const char* sql);
  // From now on every commit is on the disk when it is done; else only a checkpoint is.
  void make_durable();
  bool is_durable() const { return is_durable_; }
  // Ends a transaction that may have written.
  void commit();

  sqlite3* handle() { return handle_; }
  const std::string& path() const { return path_; }
  bool is_alone() const { return is_alone_; }
  std::int64_t changes() const { return sqlite3_changes64(handle_); }
  std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_); }  // That was inserted.
  std::int64_t total_changes() const { return sqlite3_total_changes64(handle_); }

  // Whether somebody deleted or replaced the file since.
  bool has_moved() const;

  // Whether commits go to a write-ahead log. Not so in a new file, or one that somebody else made.
  bool has_log();
  void use_log();
  // Makes room in the file for all that the log will be moved into it. Before a commit. Throws Failure.
  void make_room();
  // Pages in the write-ahead log after this connection's last commit.
  int log_pages() const { return log_pages_; }
  // Moves what it can from the log into the file. Only inside the gate (WAL-reset bug, decisions.md).
  void checkpoint();
  // The same, and has the next commit write over the log from its start. False: somebody reads it, or the
  // disk is full.
  bool restart_log() { return checkpoint_whole(SQLITE_CHECKPOINT_RESTART); }
  // The same, and gives the log's space back.
  bool empty_log() { return checkpoint_whole(SQLITE_CHECKPOINT_TRUNCATE); }

  // The length of the log's file; -1 if there is none.
  std::int64_t log_bytes();
  // Whether what stands in the log's place can be a log. SQLite takes anything else for an empty one.
  bool has_sound_log();

 private:
  Connection(std::string path, sqlite3* handle, bool alone)
      : path_(std::move(path)), handle_(handle), is_alone_(alone) {}

  bool checkpoint_whole(int mode);
  sqlite3_file* log_file();

  std::string path_;
  sqlite3* handle_;
  const bool is_alone_;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
  bool is_durable_ = false;
  bool has_log_ = false;
  int log_pages_ = 0;
  std::string gathered_;  // What commits write is put together here.
};

// For the calling thread: how long SQLite may wait for another process from now on. Of itself it waits ten
// seconds for one that makes the log's index anew.
void wait_at_most(Duration patience);

Error full_disk(const std::string& path);

// What an SQLite error means for whoever asked, with the file's name and what to do.
Error explain(int sqlite_code, std::string_view message, const std::string& path);

// Ends what was begun, unless it was ended already.
class Rollback {
 public:
  explicit Rollback(Connection& connection) : connection_(connection) {}
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  ~Rollback() {
    if (sqlite3_get_autocommit(connection_.handle()) != 0) return;
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

 private:
  Connection& connection_;
};

}  // namespace leasehold::sqlite
