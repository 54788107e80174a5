// Writes the frames of a commit to the log at once.
//
// SQLite writes each frame of its log by itself, and the frame's header and page apart: two calls of the
// system for each of a dozen pages and more.
#pragma once

#include <sqlite3.h>

#include <string>

namespace leasehold::sqlite {

// While it lives, which is while one COMMIT runs, `log` (may be null) gathers. Frames before the one that
// commits are of no use to anybody, and that one is the last; so all are written, in one call, when SQLite
// writes that one, and hears how it went. Whatever else SQLite does with the log finds them written. What a
// commit that fails leaves is dropped.
class GatheredLog {
 public:
  // `buffer` is only used again to spare making another.
  GatheredLog(sqlite3_file* log, std::string& buffer);
  GatheredLog(const GatheredLog&) = delete;
  GatheredLog& operator=(const GatheredLog&) = delete;
  ~GatheredLog();

 private:
  int write(const char* data, int size, sqlite3_int64 offset);
  int flush();

  sqlite3_file* const log_;
  std::string& gathered_;
  sqlite3_int64 start_ = 0;  // Of what is gathered, in the file.
  bool awaits_page_ = false;
  bool is_last_ = false;  // The frame it awaits the page of commits.
  bool is_done_ = false;
  const sqlite3_io_methods* usual_ = nullptr;
  sqlite3_io_methods ours_ = {};
};

}  // namespace leasehold::sqlite
