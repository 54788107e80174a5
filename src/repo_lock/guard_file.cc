#include "repo_lock/guard_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <charconv>
#include <thread>

namespace leasehold::repo_lock {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kDigits = 20;

enum class Attempt { inside, others_are, was_removed };

std::expected<Attempt, std::errc> try_to_enter(const Descriptor& folder, const Descriptor& file) {
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) return Attempt::others_are;
    return std::unexpected(last_problem());
  }
  // A clean-up job may have removed it, and somebody may be inside another one of the same name.
  struct stat ours{};
  struct stat named{};
  if (::fstat(file.number(), &ours) != 0) return std::unexpected(last_problem());
  // As if it were a device nobody can open: a pipe has no place for what we write into it.
  if (!S_ISREG(ours.st_mode)) return std::unexpected(std::errc::no_such_device_or_address);
  if (::fstatat(folder.number(), GuardFile::kName, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      is_same_file(ours, named)) {
    return Attempt::inside;
  }
  return Attempt::was_removed;
}

}  // namespace

std::expected<std::optional<GuardFile>, std::errc> GuardFile::enter(const Descriptor& folder,
                                                                    std::chrono::milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  Descriptor file;
  for (;;) {
    if (!file.is_open()) {
      file = Descriptor(
          ::openat(folder.number(), kName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
      if (!file.is_open()) return std::unexpected(last_problem());
    }
    const auto attempt = try_to_enter(folder, file);
    if (!attempt) return std::unexpected(attempt.error());
    if (*attempt == Attempt::inside) return GuardFile(std::move(file));
    if (*attempt == Attempt::was_removed) file = Descriptor();
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(1ms);
  }
}

GuardFile::~GuardFile() {
  // Closing would do, were it not for children forked meanwhile: they share the lock until they exec.
  if (file_.is_open()) ::flock(file_.number(), LOCK_UN);
}

std::uint64_t GuardFile::generation() const {
  std::array<char, kDigits> text{};
  const ssize_t size = ::pread(file_.number(), text.data(), text.size(), 0);
  std::uint64_t number = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, number);
  return number;
}

std::expected<std::uint64_t, std::errc> GuardFile::next_generation() {
  const std::uint64_t next = generation() + 1;
  // Always of one length, so that a shorter one leaves nothing of a longer one.
  const std::string text = fmt::format("{:0{}}\n", next, kDigits);
  const ssize_t written = ::pwrite(file_.number(), text.data(), text.size(), 0);
  if (written == static_cast<ssize_t>(text.size())) return next;
  return std::unexpected(written < 0 ? last_problem() : std::errc::no_space_on_device);
}

}  // namespace leasehold::repo_lock
