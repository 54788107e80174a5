#include "store/sqlite/gathered_log.h"

#include <cstddef>
#include <string_view>

namespace leasehold::sqlite {
namespace {

// A frame: its header, then a page (https://www.sqlite.org/fileformat2.html#walformat).
constexpr int kHeaderBytes = 24;
// SQLite's own file system takes less than 128 KiB at once.
constexpr std::size_t kMostBytes = 131'071;

// SQLite's methods get the file and nothing else.
thread_local GatheredLog* current = nullptr;

// The size of the database after the commit; 0 in every frame but the last.
bool commits(std::string_view header) { return header.substr(4, 4) != std::string_view("\0\0\0\0", 4); }

}  // namespace

GatheredLog::GatheredLog(sqlite3_file* log, std::string& buffer) : log_(log), gathered_(buffer) {
  if (log_ == nullptr) return;
  usual_ = log_->pMethods;
  ours_ = *usual_;
  ours_.xWrite = [](sqlite3_file*, const void* data, int size, sqlite3_int64 offset) {
    return current->write(static_cast<const char*>(data), size, offset);
  };
  ours_.xRead = [](sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
    const int code = current->flush();
    return code == SQLITE_OK ? current->usual_->xRead(file, to, size, offset) : code;
  };
  ours_.xSync = [](sqlite3_file* file, int flags) {
    const int code = current->flush();
    return code == SQLITE_OK ? current->usual_->xSync(file, flags) : code;
  };
  ours_.xTruncate = [](sqlite3_file* file, sqlite3_int64 size) {
    const int code = current->flush();
    return code == SQLITE_OK ? current->usual_->xTruncate(file, size) : code;
  };
  ours_.xFileSize = [](sqlite3_file* file, sqlite3_int64* size) {
    const int code = current->flush();
    return code == SQLITE_OK ? current->usual_->xFileSize(file, size) : code;
  };
  gathered_.clear();
  // Here it may throw; not in the middle of SQLite.
  gathered_.reserve(kMostBytes);
  current = this;
  log_->pMethods = &ours_;
}

GatheredLog::~GatheredLog() {
  if (log_ == nullptr) return;
  // Unless SQLite has closed it.
  if (log_->pMethods == &ours_) log_->pMethods = usual_;
  current = nullptr;
}

int GatheredLog::write(const char* data, int size, sqlite3_int64 offset) {
  if (is_done_) return usual_->xWrite(log_, data, size, offset);
  const bool follows = offset == start_ + static_cast<sqlite3_int64>(gathered_.size());
  const std::string_view bytes(data, static_cast<std::size_t>(size));
  if (awaits_page_ && follows) {
    gathered_ += bytes;
    awaits_page_ = false;
    is_done_ = is_last_;
    const bool is_full = gathered_.size() + kHeaderBytes + bytes.size() > kMostBytes;
    return is_done_ || is_full ? flush() : SQLITE_OK;
  }
  const bool is_header = size == kHeaderBytes;
  if (!follows || !is_header) {
    if (const int code = flush(); code != SQLITE_OK) return code;
  }
  if (!is_header) return usual_->xWrite(log_, data, size, offset);
  if (gathered_.empty()) start_ = offset;
  gathered_ += bytes;
  awaits_page_ = true;
  is_last_ = commits(bytes);
  return SQLITE_OK;
}

int GatheredLog::flush() {
  awaits_page_ = false;
  if (gathered_.empty()) return SQLITE_OK;
  const int code = usual_->xWrite(log_, gathered_.data(), static_cast<int>(gathered_.size()), start_);
  gathered_.clear();
  return code;
}

}  // namespace leasehold::sqlite
