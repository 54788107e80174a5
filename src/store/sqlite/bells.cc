#include "store/sqlite/bells.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace leasehold::sqlite {
namespace {

std::string pipe_of(const std::string& folder, const GroupId& ticket) { return folder + "/" + ticket.text; }

bool is_file_name(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, plain);
}

// Several may listen to one pipe: the byte is never read, so all of them see it. The shared lock tells the
// last one that it is the last.
class PipeBell final : public Bell {
 public:
  PipeBell(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  PipeBell(const PipeBell&) = delete;
  PipeBell& operator=(const PipeBell&) = delete;
  ~PipeBell() override {
    if (flock(fd_, LOCK_EX | LOCK_NB) == 0) unlink(path_.c_str());
    close(fd_);
  }

  int fd() const override { return fd_; }

 private:
  std::string path_;
  int fd_;
};

bool is_at(const std::string& path, int fd) {
  struct stat there{};
  struct stat here{};
  return stat(path.c_str(), &there) == 0 && fstat(fd, &here) == 0 && there.st_ino == here.st_ino;
}

// A listener that was killed left its pipe behind. Locked as the last listener does it, so that whoever
// starts to listen just now notices and makes a new one.
void remove_deserted(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  close(fd);
}

}  // namespace

Result<std::unique_ptr<Bell>> listen_in(const std::string& folder, const GroupId& ticket) {
  if (!is_file_name(ticket.text)) {
    return fail(Code::invalid_argument, fmt::format("'{}' is not a ticket's id.", ticket.text));
  }
  const std::string path = pipe_of(folder, ticket);
  for (;;) {
    if (mkfifo(path.c_str(), 0600) != 0 && errno != EEXIST) break;
    // Open for both, so that it neither waits for a writer nor ends with one.
    const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) continue;  // The last listener left just now.
    if (fd < 0) break;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0 && is_at(path, fd)) return std::make_unique<PipeBell>(path, fd);
    close(fd);
  }
  return fail(Code::unavailable,
              fmt::format("Cannot make the bell {} to wait with: {}.", path, std::strerror(errno)));
}

void ring_in(const std::string& folder, const GroupId& ticket) {
  if (!is_file_name(ticket.text)) return;
  const std::string path = pipe_of(folder, ticket);
  const int heard = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (heard < 0) {
    if (errno == ENXIO) remove_deserted(path);
    return;
  }
  // Written as one who could read it, too: a listener that leaves meanwhile would have us killed (SIGPIPE).
  const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  close(heard);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = write(fd, "!", 1);
  close(fd);
}

void clear_in(const std::string& folder) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    if (entry.is_fifo(gone)) remove_deserted(entry.path());
  }
}

}  // namespace leasehold::sqlite
