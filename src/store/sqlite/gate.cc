#include "store/sqlite/gate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <thread>

#include "util/read_file.h"

namespace leasehold::sqlite {
namespace {

constexpr std::size_t kPidWidth = 20;

bool lock(int fd, int how) {
  for (;;) {
    if (flock(fd, how) == 0) return true;
    if (errno != EINTR) return false;
  }
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

// flock(2) can wait in line or not at all, but not for a limited time. So whoever finds the gate closed
// lets a thread wait in line and waits for that thread. Shared with the thread, which may outlive the gate:
// nothing but the lock itself can end its wait.
struct Gate::File {
  File(std::string name, int descriptor) : path(std::move(name)), fd(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(fd); }

  bool try_now() {
    {
      const std::lock_guard guard(mutex);
      if (state != State::idle) return false;  // The thread is in line for us already.
    }
    return lock(fd, LOCK_EX | LOCK_NB);
  }

  bool wait_in_line(std::chrono::steady_clock::time_point deadline, const std::shared_ptr<File>& self) {
    std::unique_lock guard(mutex);
    wanted = true;
    if (!has_thread) {
      std::thread([self] { self->stand_in_line(); }).detach();
      has_thread = true;
    }
    if (state == State::idle) state = State::in_line;
    changed.notify_all();
    const bool got = changed.wait_until(guard, deadline, [this] { return state == State::inside; });
    wanted = false;
    if (got) state = State::idle;  // The lock is ours now, not the thread's.
    return got;
  }

  void stand_in_line() {
    std::unique_lock guard(mutex);
    for (;;) {
      changed.wait(guard, [this] { return state == State::in_line || closing; });
      if (closing) return;
      guard.unlock();
      const bool got = lock(fd, LOCK_EX);
      guard.lock();
      if (got && wanted && !closing) {
        state = State::inside;
      } else {
        if (got) lock(fd, LOCK_UN);
        state = State::idle;
      }
      changed.notify_all();
    }
  }

  enum class State { idle, in_line, inside };

  const std::string path;
  const int fd;
  std::mutex mutex;
  std::condition_variable changed;
  State state = State::idle;
  bool wanted = false;
  bool has_thread = false;
  bool closing = false;
};

Result<std::unique_ptr<Gate>> Gate::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return fail(Code::unavailable,
                fmt::format("Cannot open the store's gate {}: {}. Check who owns its folder, "
                            "and its mode.",
                            path, std::strerror(errno)));
  }
  return std::unique_ptr<Gate>(new Gate(std::make_shared<File>(path, fd)));
}

Gate::Gate(std::shared_ptr<File> file) : file_(std::move(file)) {}

Gate::~Gate() {
  const std::lock_guard guard(file_->mutex);
  file_->closing = true;
  file_->changed.notify_all();
}

Gate::Pass::~Pass() {
  if (turn_.owns_lock()) lock(gate_->file_->fd, LOCK_UN);
}

Result<Gate::Pass> Gate::enter(Duration at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  std::unique_lock turn(turn_, deadline);
  if (!turn.owns_lock()) return fail(stuck(at_most));
  if (!file_->try_now() && !file_->wait_in_line(deadline, file_)) return fail(stuck(at_most));

  // Who is inside, for those who wait in vain. A name that cannot be written (a full disk) hurts nobody.
  const std::string name = fmt::format("{:<{}}\n", getpid(), kPidWidth - 1);
  [[maybe_unused]] const auto written = pwrite(file_->fd, name.data(), name.size(), 0);
  return Pass(*this, std::move(turn));
}

Error Gate::stuck(Duration waited) const {
  const auto seconds = std::chrono::duration<double>(waited).count();
  const std::string pid = trimmed(read_file(file_->path, kPidWidth).value_or(""));
  const std::string name = trimmed(read_file(fmt::format("/proc/{}/comm", pid), 64).value_or("unknown"));
  return {
      Code::unavailable,
      fmt::format("The store's gate {} stayed closed for {:.1f} s: process {} ({}) is inside. Nothing was "
                  "written. If it is stopped, continue it (kill -CONT {}) or end it.",
                  file_->path, seconds, pid.empty() ? "?" : pid, name, pid.empty() ? "PID" : pid)};
}

}  // namespace leasehold::sqlite
