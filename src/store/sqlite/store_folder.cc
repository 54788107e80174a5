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

#include "util/descriptor.h"
#include "util/path_text.h"

namespace leasehold::sqlite {
namespace {

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

// Whoever may look into a folder of another user's still cannot lock what is in it.
Result<void> check_owner(const std::string& folder) {
  struct stat there{};
  const bool is_anothers = ::stat(folder.c_str(), &there) == 0 && there.st_uid != ::geteuid();
  if (!is_anothers || ::access(folder.c_str(), W_OK) == 0) return {};
  return fail(
      Code::unavailable,
      fmt::format("The store {} belongs to another user (uid {}), and you are {}. Work as that user, or "
                  "have it run lease serve --listen HOST:PORT and make you a token (lease token create "
                  "--agent NAME): then "
                  "set LEASE_STORE=http://HOST:PORT and LEASE_TOKEN.",
                  folder, there.st_uid, ::geteuid()));
}

Result<void> make_database_file(const std::string& path) {
  // SQLite gives its other files the mode of this one. It would follow a link, and write whatever is there.
  const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file.is_open() && (errno == EISDIR || errno == ELOOP)) {
    return fail(Code::config_error,
                fmt::format("{} is a {}, and the store needs a file of that name. Move it away.", path,
                            errno == EISDIR ? "folder" : "symbolic link"));
  }
  if (!file.is_open()) return fail(cannot("open the store", path));
  struct stat there{};
  const bool is_file = fstat(file.number(), &there) == 0 && S_ISREG(there.st_mode);
  if (is_file && (there.st_mode & 077) != 0 && fchmod(file.number(), 0600) == 0) {
    for (const char* other : {"-wal", "-shm"})
      fchmodat(AT_FDCWD, (path + other).c_str(), 0600, AT_SYMLINK_NOFOLLOW);
  }
  if (!is_file) return fail(Code::config_error, fmt::format("{} is not a regular file. Move it away.", path));
  return {};
}

}  // namespace

long file_system_type(const std::string& path) {
  struct statfs found{};
  return statfs(path.c_str(), &found) == 0 ? static_cast<long>(found.f_type) : 0;
}

Result<void> prepare_folder(const std::string& folder, long (*type_of)(const std::string&)) {
  if (auto made = make_folder(folder); !made) return made;
  if (auto ours = check_owner(folder); !ours) return ours;
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

}  // namespace leasehold::sqlite
