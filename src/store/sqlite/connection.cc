#include "store/sqlite/connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/sqlite/gathered_log.h"
#include "store/sqlite/lock_holder.h"

namespace leasehold::sqlite {
namespace {

// Writers queue at our own gate, so SQLite's locks are busy only while another process recovers the log.
constexpr int kBusyMilliseconds = 5'000;
constexpr sqlite3_int64 kPageBytes = 4'096;
constexpr int kChunkBytes = 1 << 20;

thread_local auto patience_end = std::chrono::steady_clock::time_point::max();

// SQLite's own file system, but for the naps it takes between two tries.
const char* impatient_vfs() {
  static sqlite3_vfs* const kUsual = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs ours = [] {
    sqlite3_vfs copy = *kUsual;
    copy.zName = "leasehold";
    copy.xSleep = [](sqlite3_vfs*, int microseconds) {
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
          patience_end - std::chrono::steady_clock::now());
      if (left.count() > 0)
        kUsual->xSleep(kUsual, static_cast<int>(std::min<std::int64_t>(microseconds, left.count())));
      return microseconds;
    };
    return copy;
  }();
  static const int kRegistered = sqlite3_vfs_register(&ours, 0);
  return kRegistered == SQLITE_OK ? ours.zName : nullptr;
}

// Who has a file of ours locked, and what to do about it.
std::string blame(const std::string& path) {
  const auto pid = lock_holder(path, "POSIX");
  if (!pid) return "";
  return fmt::format(" It is {}: if it is stopped, continue it (kill -CONT {}) or end it.",
                     named_process(std::to_string(*pid)), *pid);
}

[[noreturn]] void throw_failure(sqlite3* handle) {
  const char* name = sqlite3_db_filename(handle, "main");
  const int code = sqlite3_extended_errcode(handle);
  throw Failure{explain(code, sqlite3_errmsg(handle), name != nullptr ? name : ""), code};
}

void check(int code, sqlite3_stmt* statement) {
  if (code != SQLITE_OK) throw_failure(sqlite3_db_handle(statement));
}

}  // namespace

void throw_corrupt(std::string_view what) {
  throw Failure{{Code::corrupt, fmt::format("The store holds {}, which no version of Leasehold wrote. "
                                            "Look at it with: lease doctor",
                                            what)}};
}

void wait_at_most(Duration patience) { patience_end = std::chrono::steady_clock::now() + patience; }

Error full_disk(const std::string& path) {
  return {
      Code::unavailable,
      fmt::format("The disk under {} is full; nothing was written. Free some space and try again.", path)};
}

Error explain(int sqlite_code, std::string_view message, const std::string& path) {
  // The only failure of that file that has a cause people can do something about.
  if (sqlite_code == SQLITE_IOERR_SHMSIZE) return full_disk(path);
  if (sqlite_code == SQLITE_PROTOCOL || sqlite_code == SQLITE_BUSY_RECOVERY) {
    return {Code::unavailable,
            fmt::format("Another process does not finish making the index of the log of {}. "
                        "Nothing was written.{}",
                        path, blame(path + "-shm"))};
  }
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return full_disk(path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return {Code::unavailable,
              fmt::format("Cannot write the store {}: {}. Check who owns it and its folder, and their modes "
                          "(0600 and 0700).",
                          path, message)};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {Code::corrupt,
              fmt::format("The store {} is damaged or not a database: {}. Nothing was written. "
                          "Look at it with: lease doctor",
                          path, message)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      // On a full disk one call at a time has the file for itself, for as long as it takes.
      return {Code::unavailable,
              fmt::format("Somebody keeps {} locked: {}. Nothing was written. Try again; if it stays so, end "
                          "what has it open: nothing but lease may write to it.{}",
                          path, message, blame(path))};
    default:
      return {Code::unavailable, fmt::format("The store {} failed: {}.", path, message)};
  }
}

// What is bound stays, and is bound anew before the next step.
Query::~Query() { sqlite3_reset(statement_); }

Query& Query::bind(std::string_view value) {
  // A null pointer would bind NULL.
  const char* data = value.data() != nullptr ? value.data() : "";
  check(sqlite3_bind_text(statement_, ++bound_, data, static_cast<int>(value.size()), SQLITE_STATIC),
        statement_);
  return *this;
}

Query& Query::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, ++bound_, value), statement_);
  return *this;
}

Query& Query::bind(std::optional<std::int64_t> value) { return value ? bind(*value) : bind_null(); }

Query& Query::bind_null() {
  check(sqlite3_bind_null(statement_, ++bound_), statement_);
  return *this;
}

bool Query::step() {
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) throw_failure(sqlite3_db_handle(statement_));
  return false;
}

void Query::run() {
  while (step()) {
  }
}

std::string_view Query::text() {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column_));
  const int size = sqlite3_column_bytes(statement_, column_++);
  return data != nullptr ? std::string_view(data, static_cast<std::size_t>(size)) : std::string_view();
}

std::int64_t Query::integer() { return sqlite3_column_int64(statement_, column_++); }

std::optional<std::int64_t> Query::maybe_integer() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return integer();
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, const char* vfs, bool alone) {
  sqlite3* handle = nullptr;
  // The pool hands a connection to one thread at a time, so SQLite need not lock.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, vfs != nullptr ? vfs : impatient_vfs());
  if (code != SQLITE_OK) {
    Error error = explain(code, handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code), path);
    sqlite3_close_v2(handle);
    return fail(std::move(error));
  }
  std::unique_ptr<Connection> connection(new Connection(path, handle, alone));
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  sqlite3_wal_hook(
      handle,
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Connection*>(self)->log_pages_ = pages;
        return SQLITE_OK;
      },
      connection.get());
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // A schema somebody tampered with must not run code of its own choice.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // The file grows by so much at once, before it has to: see make_room().
  int chunk = kChunkBytes;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk);
  if (alone) sqlite3_exec(handle, "PRAGMA locking_mode = EXCLUSIVE", nullptr, nullptr, nullptr);
  return connection;
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

bool Connection::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

Query Connection::query(const char* sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr &&
      sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    throw_failure(handle_);
  }
  return Query(statement);
}

void Connection::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) throw_failure(handle_);
}

bool Connection::has_log() {
  Query mode = query("PRAGMA journal_mode");
  return has_log_ = mode.step() && mode.text() == "wal";
}

void Connection::use_log() {
  Query mode = query("PRAGMA journal_mode = WAL");
  has_log_ = mode.step() && mode.text() == "wal";
}

void Connection::make_room() {
  Query pages = query("PRAGMA page_count");
  sqlite3_int64 bytes = pages.step() ? pages.integer() * kPageBytes : 0;
  const int code = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_SIZE_HINT, &bytes);
  if (code != SQLITE_OK && code != SQLITE_NOTFOUND) throw Failure{full_disk(path_), SQLITE_FULL};
}

void Connection::make_durable() {
  execute("PRAGMA synchronous = FULL");
  is_durable_ = true;
}

void Connection::commit() {
  const GatheredLog together(has_log_ ? log_file() : nullptr, gathered_);
  query("COMMIT").run();
}

void Connection::checkpoint() {
  // Passive: waits for no reader. What a reader still needs is moved next time.
  sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  log_pages_ = 0;
}

bool Connection::checkpoint_whole(int mode) {
  sqlite3_busy_timeout(handle_, 0);
  const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, mode, nullptr, nullptr);
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  if (code == SQLITE_OK) log_pages_ = 0;
  return code == SQLITE_OK;
}

sqlite3_file* Connection::log_file() {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(handle_, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&file)) !=
      SQLITE_OK)
    return nullptr;
  return file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

std::int64_t Connection::log_bytes() {
  sqlite3_file* file = log_file();
  sqlite3_int64 size = -1;
  if (file == nullptr || file->pMethods->xFileSize(file, &size) != SQLITE_OK) return -1;
  return size;
}

bool Connection::has_sound_log() {
  sqlite3_file* file = log_file();
  std::uint8_t start[4] = {};
  // A log that is shorter reads as zeros, and so does one that has not been written yet.
  if (file == nullptr || file->pMethods->xRead(file, start, sizeof start, 0) != SQLITE_OK) return true;
  const std::uint32_t mark =
      static_cast<std::uint32_t>(start[0]) << 24 | start[1] << 16 | start[2] << 8 | start[3];
  return mark == 0 || (mark & ~1U) == 0x377f0682;
}

}  // namespace leasehold::sqlite
