#include "init/file_change.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "util/descriptor.h"
#include "util/path_text.h"
#include "util/read_file.h"
#include "util/resolve_path.h"
#include "util/utf8.h"
#include "util/write_all.h"

namespace leasehold {
namespace {

constexpr std::size_t kBytesMax = std::size_t{4} << 20;

std::unexpected<Error> cannot(std::string_view what, const std::string& path) {
  return fail(Code::unavailable, fmt::format("Cannot {} {}: {}.", what, in_quotes(path),
                                             std::error_code(errno, std::generic_category()).message()));
}

// A file beside another that is gone unless it took the other's place.
class NextVersion {
 public:
  explicit NextVersion(const std::string& target)
      : path_(target + ".lease-XXXXXX"), file_(::mkostemp(path_.data(), O_CLOEXEC)) {}
  NextVersion(const NextVersion&) = delete;
  NextVersion& operator=(const NextVersion&) = delete;
  ~NextVersion() {
    if (file_.is_open() && !is_placed_) ::unlink(path_.c_str());
  }

  bool is_open() const { return file_.is_open(); }

  bool fill(std::string_view text, mode_t mode) const {
    return write_all(file_.number(), text) == std::errc() && ::fchmod(file_.number(), mode) == 0 &&
           ::fsync(file_.number()) == 0;
  }

  // Only root may give files away, and only then it matters.
  void own_like(const struct stat& other) const {
    [[maybe_unused]] const int done = ::fchown(file_.number(), other.st_uid, other.st_gid);
  }

  bool take_place(const std::string& target) {
    is_placed_ = ::rename(path_.c_str(), target.c_str()) == 0;
    return is_placed_;
  }

 private:
  std::string path_;
  Descriptor file_;
  bool is_placed_ = false;
};

constexpr mode_t kRun = 0111;

mode_t mode_of_new_file(bool executable) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return (executable ? 0777 : 0666) & ~mask;
}

// With the right to run it for all who may read it.
mode_t runnable(mode_t mode) { return mode | ((mode & 0444) >> 2); }

Result<void> write(const std::string& target, const FileChange& change) {
  struct stat present{};
  const bool exists = ::stat(target.c_str(), &present) == 0;
  std::error_code error;
  std::filesystem::create_directories(parent_of(target), error);
  NextVersion next(target);
  if (!next.is_open()) return cannot("write beside", target);
  if (exists) next.own_like(present);
  mode_t mode = exists ? present.st_mode & 07777 : mode_of_new_file(change.executable);
  if (change.lacks_mode) mode = runnable(mode);
  if (!next.fill(*change.after, mode) || !next.take_place(target)) return cannot("write", target);
  return {};
}

Result<void> remove(const std::string& target, const FileChange& change) {
  if (::unlink(target.c_str()) != 0) return cannot("remove", target);
  // One that is not empty stays, as it should; so does one that only a link leads to.
  std::string folder(parent_of(change.path));
  for (int left = change.own_folders; left > 0 && ::rmdir(folder.c_str()) == 0; --left)
    folder = parent_of(folder);
  return {};
}

// Where links lead.
Result<std::string> target_of(const FileChange& change) {
  auto target = resolve_path("/", change.path);
  if (target) return std::move(target->path);
  if (target.error() == std::errc::not_a_directory) return change.path;
  return fail(Code::unavailable, fmt::format("Cannot follow {}: {}.", in_quotes(change.path),
                                             std::make_error_code(target.error()).message()));
}

}  // namespace

Result<FileText> read_settings(const std::string& path) {
  auto text = read_file(path, kBytesMax);
  if (text) return std::move(*text);
  if (text.error() == std::errc::no_such_file_or_directory || text.error() == std::errc::not_a_directory)
    return FileText();
  return fail(Code::config_error, fmt::format("Cannot read {}: {}.", in_quotes(path),
                                              std::make_error_code(text.error()).message()));
}

bool is_not_runnable(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && (found.st_mode & kRun) == 0;
}

Result<void> check_place(const FileChange& change) {
  const auto target = target_of(change);
  if (!target) return fail(Code::config_error, target.error().message);
  std::string folder(parent_of(*target));
  struct stat found{};
  while (folder != "/" && ::stat(folder.c_str(), &found) != 0) folder = parent_of(folder);
  if (::stat(folder.c_str(), &found) == 0 && !S_ISDIR(found.st_mode)) {
    return fail(
        Code::config_error,
        fmt::format("{} is a file, and {} needs a folder there. Make it one, with what is in the file in "
                    "a file of that folder, and run this again.",
                    in_sentence(folder), in_sentence(*target)));
  }
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return fail(Code::config_error,
              fmt::format("{} cannot be written: the folder {} is not yours to change. Have "
                          "that changed, and run this again.",
                          in_sentence(*target), in_sentence(folder)));
}

Result<void> apply(const FileChange& change) {
  if (!change.is_needed()) return {};
  const auto target = target_of(change);
  if (!target) return fail(target.error());
  const auto now = read_settings(*target);
  if (!now) return fail(now.error());
  if (*now != change.before) {
    return fail(
        Code::transaction_conflict,
        fmt::format("{} was changed by somebody else just now. Run it again.", in_quotes(change.path)));
  }
  return change.after ? write(*target, change) : remove(*target, change);
}

}  // namespace leasehold
