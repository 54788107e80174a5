#include "repo_lock/repo_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "util/read_file.h"
#include "util/utf8.h"
#include "util/write_all.h"

namespace leasehold::repo_lock {
namespace {

constexpr const char* kLock = ".lock";
// What becomes the lock file. Only ever made inside the guard, so one name is enough, and what a killed
// process left is the next one's to remove.
constexpr const char* kDraft = ".lock.new";

// No lock file of anybody's is longer.
constexpr std::size_t kTextBytesMax = 64 * 1024;

Error in_the_way(const std::string& path, std::string_view wanted) {
  return {Code::config_error,
          fmt::format("{} is no {}, and the repository lock needs one of that name. Move it away.",
                      in_sentence(path), wanted)};
}

Error cannot_use(std::string_view what, const std::string& path, std::errc why) {
  return {
      Code::unavailable,
      fmt::format("Cannot {} {}: {}. Check who owns the folders around it, their modes, and the space left.",
                  what, in_sentence(path), std::make_error_code(why).message())};
}

Descriptor open_folder(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Makes the folder and all above it that are missing.
std::errc make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (::mkdir(path.substr(0, end).c_str(), 0700) != 0 && errno != EEXIST) return last_problem();
    if (end == std::string::npos) return {};
  }
}

std::optional<std::string> read_text(const Descriptor& file) {
  auto text = read_to_end(file.number(), kTextBytesMax);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

// The same file once more. One that is open for writing would keep its disk from being mounted read-only for
// as long as the lock is held.
std::expected<Descriptor, std::errc> open_to_read(const Descriptor& folder, const char* name,
                                                  const Descriptor& written) {
  Descriptor file(::openat(folder.number(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return std::unexpected(last_problem());
  struct stat ours{};
  struct stat named{};
  if (::fstat(written.number(), &ours) != 0 || ::fstat(file.number(), &named) != 0) {
    return std::unexpected(last_problem());
  }
  // Somebody who ignores the guard has put another one there.
  if (!is_same_file(ours, named)) return std::unexpected(std::errc::file_exists);
  return file;
}

// A new file of that name with `text` in it, open to be read.
std::expected<Descriptor, std::errc> create_file(const Descriptor& folder, const char* name,
                                                 std::string_view text) {
  Descriptor file(::openat(folder.number(), name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return std::unexpected(last_problem());
  // Whatever the umask. A file system that has no modes may refuse.
  [[maybe_unused]] const int ignored = ::fchmod(file.number(), 0600);
  const std::errc problem = write_all(file.number(), text);
  auto kept = problem == std::errc() ? open_to_read(folder, name, file) : std::unexpected(problem);
  if (!kept && kept.error() != std::errc::file_exists) ::unlinkat(folder.number(), name, 0);
  return kept;
}

bool has_no_links(std::errc problem) {
  return problem == std::errc::operation_not_permitted || problem == std::errc::operation_not_supported ||
         problem == std::errc::function_not_supported || problem == std::errc::too_many_links;
}

// A file of that name is what a killed process left; anything else (file_exists) is somebody's.
std::expected<Descriptor, std::errc> create_draft(const Descriptor& folder, std::string_view text) {
  auto draft = create_file(folder, kDraft, text);
  if (draft || draft.error() != std::errc::file_exists) return draft;
  struct stat there{};
  if (::fstatat(folder.number(), kDraft, &there, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(there.st_mode))
    return draft;
  ::unlinkat(folder.number(), kDraft, 0);
  return create_file(folder, kDraft, text);
}

// link(2) is as exclusive as O_EXCL, and what it makes is complete: whoever is killed on the way leaves
// either no lock or that of a dead process, never an empty one that blocks everybody until it is old.
std::expected<Descriptor, std::errc> publish(const Descriptor& folder, Descriptor draft,
                                             std::string_view text) {
  const bool is_linked = ::linkat(folder.number(), kDraft, folder.number(), kLock, 0) == 0;
  const std::errc problem = is_linked ? std::errc() : last_problem();
  ::unlinkat(folder.number(), kDraft, 0);
  if (is_linked) return draft;
  if (has_no_links(problem)) return create_file(folder, kLock, text);
  return std::unexpected(problem);
}

}  // namespace

Result<std::optional<RepoFolder>> RepoFolder::open(const std::string& path) {
  Descriptor folder = open_folder(path);
  if (folder.is_open()) return RepoFolder(path, std::move(folder));
  const std::errc problem = last_problem();
  if (problem == std::errc::no_such_file_or_directory) return std::nullopt;
  if (problem == std::errc::not_a_directory || problem == std::errc::too_many_symbolic_link_levels) {
    return fail(in_the_way(path, "folder"));
  }
  return fail(cannot_use("open the folder", path, problem));
}

Result<RepoFolder> RepoFolder::open_or_make(const std::string& path) {
  auto folder = open(path);
  if (!folder) return fail(std::move(folder).error());
  if (*folder) return *std::move(*folder);
  if (const std::errc problem = make_folders(path); problem != std::errc()) {
    return fail(cannot_use("make the folder", path, problem));
  }
  folder = open(path);
  if (!folder) return fail(std::move(folder).error());
  if (*folder) return *std::move(*folder);
  return fail(cannot_use("open the folder", path, std::errc::no_such_file_or_directory));
}

Error RepoFolder::cannot(std::string_view what, std::errc why) const {
  return cannot_use(what, lock_path(), why);
}

Result<std::optional<GuardFile>> RepoFolder::enter(std::chrono::milliseconds at_most) const {
  auto guard = GuardFile::enter(folder_, at_most);
  if (guard) return std::move(*guard);
  const bool is_no_file = guard.error() == std::errc::is_a_directory ||
                          guard.error() == std::errc::too_many_symbolic_link_levels ||
                          guard.error() == std::errc::no_such_device_or_address;
  if (is_no_file) return fail(in_the_way(guard_path(), "file"));
  return fail(cannot_use("open", guard_path(), guard.error()));
}

Result<std::uint64_t> RepoFolder::next_generation(GuardFile& guard) const {
  const auto next = guard.next_generation();
  if (next) return *next;
  return fail(cannot_use("write", guard_path(), next.error()));
}

Result<std::optional<struct stat>> RepoFolder::entry() const {
  struct stat status{};
  if (::fstatat(folder_.number(), kLock, &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  return fail(cannot("look at", last_problem()));
}

Result<std::optional<Found>> RepoFolder::look() const {
  const auto there = entry();
  if (!there) return fail(there.error());
  if (!*there) return std::nullopt;
  if (!S_ISREG((*there)->st_mode)) return fail(in_the_way(lock_path(), "file"));
  Found found{.text = std::nullopt, .status = **there};
  const Descriptor file(::openat(folder_.number(), kLock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    return found;
  }
  // What is read and its age belong together, also if the file was exchanged just now.
  ::fstat(file.number(), &found.status);
  found.text = read_text(file);
  return found;
}

Result<std::optional<Descriptor>> RepoFolder::create(std::string_view text, bool instead_of_stale) const {
  auto draft = create_draft(folder_, text);
  if (!draft && draft.error() == std::errc::file_exists)
    return fail(in_the_way(path_ + "/" + kDraft, "file"));
  if (!draft) return fail(cannot("make", draft.error()));
  if (instead_of_stale) {
    if (auto removed = remove(); !removed) {
      ::unlinkat(folder_.number(), kDraft, 0);
      return fail(std::move(removed).error());
    }
  }
  auto file = publish(folder_, *std::move(draft), text);
  if (file) return std::move(*file);
  if (file.error() == std::errc::file_exists) return std::nullopt;
  return fail(cannot("make", file.error()));
}

Result<void> RepoFolder::remove() const {
  if (::unlinkat(folder_.number(), kLock, 0) == 0 || errno == ENOENT) return {};
  return fail(cannot("remove", last_problem()));
}

Result<std::optional<bool>> RepoFolder::has(const Descriptor& lock_file) const {
  const auto there = entry();
  if (!there) return fail(there.error());
  if (!*there) return std::nullopt;
  struct stat ours{};
  if (::fstat(lock_file.number(), &ours) != 0) return fail(cannot("look at", last_problem()));
  return is_same_file(ours, **there);
}

}  // namespace leasehold::repo_lock
