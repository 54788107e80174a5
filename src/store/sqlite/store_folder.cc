#include "store/sqlite/store_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "util/path_text.h"

namespace leasehold::sqlite {
namespace {

// Enough for the log of some hundred small transactions.
constexpr off_t kReserveBytes = 1 << 20;
constexpr off_t kPageBytes = 4096;

// File systems where two machines can see one file, but not each other's locks and shared memory. Not all
// have a name in linux/magic.h.
constexpr long kNetworks[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CODA_SUPER_MAGIC, AFS_SUPER_MAGIC,
                              0xFF534D42L,  // CIFS
                              0xFE534D42L,  // SMB2
                              0x00C36400L,  // Ceph
                              0x0BD00BD0L,  // Lustre
                              0x01161970L,  // GFS2
                              0x7461636FL,  // OCFS2
                              0x47504653L,  // GPFS
                              0x6B414653L,  // kAFS
                              V9FS_MAGIC};

Error cannot(std::string_view what, const std::string& path) {
  return {Code::unavailable,
          fmt::format("Cannot {} {}: {}. Check who owns the folder around it, its mode, and the "
                      "space left.",
                      what, path, std::strerror(errno))};
}

Result<void> make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return {};
  if (errno == ENOENT && path.size() > 1) {
    if (auto made = make_folder(std::string(parent_of(path))); !made) return made;
    if (mkdir(path.c_str(), 0700) == 0) return {};
  }
  if (errno != EEXIST) return fail(cannot("make the folder", path));
  struct stat there{};
  if (stat(path.c_str(), &there) == 0 && !S_ISDIR(there.st_mode)) {
    return fail(Code::config_error,
                fmt::format("{} is a file, and the store needs a folder of that name. Move it away.", path));
  }
  return {};
}

Result<void> make_database_file(const std::string& path) {
  // SQLite gives its other files the mode of this one. It would follow a link, and write whatever is there.
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0 && (errno == EISDIR || errno == ELOOP)) {
    return fail(Code::config_error,
                fmt::format("{} is a {}, and the store needs a file of that name. Move it away.", path,
                            errno == EISDIR ? "folder" : "symbolic link"));
  }
  if (fd < 0) return fail(cannot("open the store", path));
  struct stat there{};
  const bool is_file = fstat(fd, &there) == 0 && S_ISREG(there.st_mode);
  close(fd);
  if (!is_file) return fail(Code::config_error, fmt::format("{} is not a regular file. Move it away.", path));
  return {};
}

// The file `reserve`, if it is one: not what a link leads to, nor a file that has another name somewhere.
class ReserveFile {
 public:
  ReserveFile(const std::string& folder, int how)
      : fd_(open((folder + "/" + kReserveName).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | how,
                 0600)) {
    is_ours_ = fd_ >= 0 && fstat(fd_, &there_) == 0 && S_ISREG(there_.st_mode) && there_.st_nlink == 1;
  }
  ReserveFile(const ReserveFile&) = delete;
  ReserveFile& operator=(const ReserveFile&) = delete;
  ~ReserveFile() {
    if (fd_ >= 0) close(fd_);
  }

  bool is_ours() const { return is_ours_; }
  int fd() const { return fd_; }
  off_t size() const { return there_.st_size; }

 private:
  const int fd_;
  struct stat there_{};
  bool is_ours_;
};

}  // namespace

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

long file_system_type(const std::string& path) {
  struct statfs found{};
  return statfs(path.c_str(), &found) == 0 ? static_cast<long>(found.f_type) : 0;
}

Result<void> prepare_folder(const std::string& folder, long (*type_of)(const std::string&)) {
  if (auto made = make_folder(folder); !made) return made;
  if (std::ranges::find(kNetworks, type_of(folder)) != std::end(kNetworks)) {
    return fail(
        Code::config_error,
        fmt::format("{} is on a network file system, where machines cannot lock a file against each other. "
                    "Run lease serve on one of them and name it with LEASE_STORE.",
                    folder));
  }
  if (auto made = make_folder(folder + "/" + kBellsName); !made) return made;
  return make_database_file(folder + "/" + kDatabaseName);
}

bool fill_reserve(const std::string& folder) {
  const ReserveFile file(folder, O_CREAT);
  if (!file.is_ours()) return false;
  return file.size() >= kReserveBytes || grow_file(file.fd(), file.size(), kReserveBytes);
}

bool spend_reserve(const std::string& folder) {
  const ReserveFile file(folder, 0);
  return file.is_ours() && file.size() > 0 && ftruncate(file.fd(), 0) == 0;
}

}  // namespace leasehold::sqlite
