#include "store/sqlite/bells.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

namespace leasehold::sqlite {
namespace {

// Several may listen to one pipe: the byte is never read while they do, so all of them see it. All lock it
// shared, which tells the last one that it is the last.
struct Pipe {
  std::string path;
  int fd;
};

std::string pipe_of(const std::string& folder, const GroupId& ticket) { return folder + "/" + ticket.text; }

bool is_file_name(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, plain);
}

bool is_at(const std::string& path, int fd) {
  struct stat there{};
  struct stat here{};
  return stat(path.c_str(), &there) == 0 && fstat(fd, &here) == 0 && there.st_ino == here.st_ino;
}

// The last one takes the pipe along. Also for one who does not listen: then there may have been nobody,
// because a listener that was killed left its pipe behind. Locked first, so that whoever starts to listen
// just now notices and makes a new one.
void leave(const Pipe& pipe) {
  if (flock(pipe.fd, LOCK_EX | LOCK_NB) == 0 && is_at(pipe.path, pipe.fd)) unlink(pipe.path.c_str());
  close(pipe.fd);
}

void drain(int fd) {
  char bytes[64];
  while (read(fd, bytes, sizeof bytes) > 0) {
  }
}

// False if others listen to it, or to what is at `path` already.
bool move(Pipe& pipe, const std::string& path) {
  if (flock(pipe.fd, LOCK_EX | LOCK_NB) != 0) return false;
  drain(pipe.fd);  // Rung for its last ticket.
  if (renameat2(AT_FDCWD, pipe.path.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) return false;
  pipe.path = path;
  // Locked shared anew, there is a moment in which others may take it for deserted.
  return flock(pipe.fd, LOCK_SH | LOCK_NB) == 0 && is_at(path, pipe.fd);
}

}  // namespace

// To make a pipe and delete it can take longer than all else in a hand-over, and keeps the folder locked
// against others' meanwhile. So who waits a second time keeps the pipe for a third, and renames it then. Who
// waits once, as a command does, leaves nothing behind.
class Bells::Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    if (pipe_) leave(*pipe_);
  }

  std::optional<Pipe> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(pipe_, std::nullopt);
  }

  void put(Pipe pipe) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(waited_, true) && !pipe_) {
      pipe_ = std::move(pipe);
    } else {
      leave(pipe);
    }
  }

 private:
  std::mutex mutex_;
  std::optional<Pipe> pipe_;
  bool waited_ = false;
};

class Bells::PipeBell final : public Bell {
 public:
  PipeBell(Pipe pipe, std::shared_ptr<Kept> kept) : pipe_(std::move(pipe)), kept_(std::move(kept)) {}
  PipeBell(const PipeBell&) = delete;
  PipeBell& operator=(const PipeBell&) = delete;
  ~PipeBell() override { kept_->put(std::move(pipe_)); }

  int fd() const override { return pipe_.fd; }

 private:
  Pipe pipe_;
  std::shared_ptr<Kept> kept_;
};

Bells::Bells(std::string folder) : folder_(std::move(folder)), kept_(std::make_shared<Kept>()) {}

Result<std::unique_ptr<Bell>> Bells::listen(const GroupId& ticket) const {
  if (!is_file_name(ticket.text)) {
    return fail(Code::invalid_argument, fmt::format("'{}' is not a ticket's id.", ticket.text));
  }
  const std::string path = pipe_of(folder_, ticket);
  if (auto kept = kept_->take()) {
    if (move(*kept, path)) return std::make_unique<PipeBell>(std::move(*kept), kept_);
    leave(*kept);
  }
  for (;;) {
    if (mkfifo(path.c_str(), 0600) != 0 && errno != EEXIST) break;
    // Open for both, so that it neither waits for a writer nor ends with one.
    const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) continue;  // The last listener left just now.
    if (fd < 0) break;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0 && is_at(path, fd))
      return std::make_unique<PipeBell>(Pipe{path, fd}, kept_);
    close(fd);
  }
  return fail(Code::unavailable,
              fmt::format("Cannot make the bell {} to wait with: {}.", path, std::strerror(errno)));
}

void Bells::ring(const GroupId& ticket) const {
  if (!is_file_name(ticket.text)) return;
  const std::string path = pipe_of(folder_, ticket);
  // Open for both: a listener that leaves meanwhile would have us killed (SIGPIPE).
  const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = write(fd, "!", 1);
  leave({path, fd});
}

void Bells::clear() const {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, gone)) {
    if (!entry.is_fifo(gone)) continue;
    const int fd = open(entry.path().c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) leave({entry.path(), fd});
  }
}

}  // namespace leasehold::sqlite
