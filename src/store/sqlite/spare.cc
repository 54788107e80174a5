#include "store/sqlite/spare.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/descriptor.h"

namespace leasehold::sqlite {
namespace {

// Enough for the log of some dozen small transactions.
constexpr off_t kSpareBytes = 1 << 20;
constexpr off_t kReserveBytes = 1 << 20;
constexpr off_t kPageBytes = 4096;

// A file's header and frames: https://www.sqlite.org/fileformat2.html#walformat
constexpr off_t kLogHeaderBytes = 32;
constexpr off_t kFrameBytes = 24 + kPageBytes;

// Makes a file longer, with space that is its own from then on: up to `to`, or else as far as the disk lets
// it. False: not at all.
bool grow_file(int fd, off_t from, off_t to) {
  off_t size = from;
  for (off_t step = to - from; step >= kPageBytes && size < to; step /= 2) {
    if (posix_fallocate(fd, size, step) == 0) {
      size += step;
    } else if (ftruncate(fd, size) != 0) {
      break;
    }
  }
  return size > from;
}

// The file `reserve`, if it is one: not what a link leads to, nor a file that has another name somewhere.
class ReserveFile {
 public:
  ReserveFile(const std::string& folder, int how)
      : file_(open((folder + "/" + kReserveName).c_str(),
                   O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | how, 0600)),
        is_ours_(fstat(file_.number(), &there_) == 0 && S_ISREG(there_.st_mode) && there_.st_nlink == 1) {}

  bool is_ours() const { return is_ours_; }
  int fd() const { return file_.number(); }
  off_t size() const { return there_.st_size; }

 private:
  const Descriptor file_;
  struct stat there_{};
  const bool is_ours_;
};

void grow_log(const Connection& connection, off_t from, off_t to) {
  const Descriptor log(open((connection.path() + "-wal").c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (log.is_open()) grow_file(log.number(), from, to);
}

}  // namespace

bool is_short_of_space(const std::string& folder) {
  struct statfs disk{};
  if (statfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0) return false;
  const auto blocks = geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
  return blocks * static_cast<unsigned long>(disk.f_bsize) < static_cast<unsigned long>(kSpareBytes);
}

void keep_spare(Connection& connection) {
  const off_t end = kLogHeaderBytes + connection.log_pages() * kFrameBytes;
  // By halves, because each time costs as much as a small transaction.
  const off_t size = connection.log_bytes();
  if (size >= 0 && size < end + kSpareBytes / 2) grow_log(connection, size, end + kSpareBytes);
}

void shrink_log(Connection& connection) {
  if (connection.log_bytes() <= 2 * kSpareBytes) return;
  connection.empty_log();
  keep_spare(connection);
}

bool fill_reserve(const std::string& folder) {
  const ReserveFile file(folder, O_CREAT);
  if (!file.is_ours()) return false;
  return file.size() >= kReserveBytes || grow_file(file.fd(), file.size(), kReserveBytes);
}

bool spend_reserve(const std::string& folder, Connection& connection) {
  const ReserveFile file(folder, 0);
  if (!file.is_ours() || file.size() == 0 || ftruncate(file.fd(), 0) != 0) return false;
  // At once, or somebody else has it.
  const off_t size = connection.log_bytes();
  if (size >= 0) grow_log(connection, size, size + file.size() / 2);
  return true;
}

}  // namespace leasehold::sqlite
