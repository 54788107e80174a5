#include "store/sqlite/gate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "store/sqlite/lock_holder.h"
#include "util/number.h"

namespace leasehold::sqlite {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// The kernel opens the gate when its holder dies, but tells nobody.
constexpr auto kLookAgain = std::chrono::milliseconds(10);

using PidText = char[24];

// Counts how often a lock was opened. A futex, because that queue is served in order, wakes one and has a
// deadline; flock(2) has none of these.
class Openings {
 public:
  std::uint32_t count() const { return count_; }

  void add() {
    ++count_;
    syscall(SYS_futex, &count_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }

  // Until there are more than `seen`, or `until`, or earlier.
  void wait(std::uint32_t seen, SteadyTime until) {
    const auto left = std::chrono::ceil<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    const timespec time = {.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
    syscall(SYS_futex, &count_, FUTEX_WAIT, seen, &time, nullptr, 0);
  }

 private:
  std::atomic<std::uint32_t> count_;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

enum class Tried { locked, too_late, moved };

// `is_in_place` is asked before each look at what the file contains, but for the first.
template <class TryLock, class IsInPlace>
Tried lock_until(SteadyTime deadline, Openings& openings, const TryLock& try_lock,
                 const IsInPlace& is_in_place) {
  for (;;) {
    const std::uint32_t seen = openings.count();
    if (try_lock()) return Tried::locked;
    const SteadyTime now = std::chrono::steady_clock::now();
    if (now >= deadline) return Tried::too_late;
    openings.wait(seen, std::min(deadline, now + kLookAgain));
    if (!is_in_place()) return Tried::moved;
  }
}

void write_own_pid(PidText& text) { *fmt::format_to_n(text, sizeof text - 1, "{}\n", getpid()).out = '\0'; }

std::string pid_in(const PidText& text) {
  const std::string_view all(text, sizeof text);
  return std::string(all.substr(0, all.find_first_not_of("0123456789")));
}

// A lock on the file's first byte; apart from flock(2)'s on the whole of it.
bool set_byte_lock(int fd, short how) {
  struct flock range{};
  range.l_type = how;
  range.l_whence = SEEK_SET;
  range.l_len = 1;
  return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

}  // namespace

// The file's contents: shared memory of all who come to the gate. Nothing in it decides who may enter; it
// says when to look again, and whom to blame.
struct Gate::Sign {
  PidText inside;  // Who is, or was last.
  PidText before;  // Who is next, or was last.
  Openings gate;
  Openings place;
};

Result<std::unique_ptr<Gate>> Gate::open(const std::string& path) {
  const auto failure = [&path](int error) {
    if (error == ENOSPC) {
      return fail(
          Code::unavailable,
          fmt::format("The disk under {} is full; nothing was written. Free some space and try again.",
                      path));
    }
    return fail(Code::unavailable,
                fmt::format("Cannot open the store's gate {}: {}. Check who owns its folder, "
                            "and its mode.",
                            path, std::strerror(error)));
  };
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return failure(errno);
  struct stat there{};
  if (fstat(file.number(), &there) == 0 && !S_ISREG(there.st_mode))
    return fail(Code::config_error, fmt::format("{} is not a regular file. Move it away.", path));
  // Reserved, because a write to shared memory cannot fail with an error when the disk is full.
  if (const int error = posix_fallocate(file.number(), 0, sizeof(Sign)); error != 0) return failure(error);
  void* memory = mmap(nullptr, sizeof(Sign), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) return failure(errno);
  return std::unique_ptr<Gate>(new Gate(path, std::move(file), there, *static_cast<Sign*>(memory)));
}

Gate::~Gate() { munmap(&sign_, sizeof(Sign)); }

Gate::Pass::~Pass() {
  if (turn_.owns_lock()) gate_->go_out();
}

Result<Gate::Pass> Gate::enter(Duration at_most) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + at_most;
  std::unique_lock turn(turn_, deadline);
  if (!turn.owns_lock()) return fail(stuck(at_most));
  const auto in_place = [this] { return is_in_place(); };
  if (!in_place()) return fail(moved());
  Tried tried = lock_until(deadline, sign_.place, [this] { return try_step_up(); }, in_place);
  if (tried == Tried::locked) {
    tried = lock_until(deadline, sign_.gate, [this] { return try_go_in(); }, in_place);
    step_down();
  }
  if (tried == Tried::moved) return fail(moved());
  if (tried == Tried::too_late) return fail(stuck(at_most));
  return Pass(*this, std::move(turn));
}

// A file that was cut is made whole: what we have in memory of it would be deadly to look at. Whoever it was
// cut under forgot only when to look again.
bool Gate::is_in_place() const {
  struct stat there{};
  if (stat(path_.c_str(), &there) != 0) return false;
  if (there.st_dev != opened_.st_dev || there.st_ino != opened_.st_ino) return false;
  return there.st_size >= static_cast<off_t>(sizeof(Sign)) ||
         posix_fallocate(file_.number(), 0, sizeof(Sign)) == 0;
}

bool Gate::try_step_up() {
  if (!set_byte_lock(file_.number(), F_WRLCK)) return false;
  write_own_pid(sign_.before);
  return true;
}

void Gate::step_down() {
  set_byte_lock(file_.number(), F_UNLCK);
  sign_.place.add();
}

bool Gate::try_go_in() {
  if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0) return false;
  write_own_pid(sign_.inside);
  return true;
}

void Gate::go_out() {
  flock(file_.number(), LOCK_UN);
  sign_.gate.add();
}

Error Gate::stuck(Duration waited) const {
  // Who is next is to blame only if nobody is inside.
  const bool empty = [this] {
    const Descriptor probe(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    return flock(probe.number(), LOCK_EX | LOCK_NB) == 0;
  }();
  // The file says who was inside last. Who locked it without writing there, the kernel knows.
  const auto inside = empty ? std::nullopt : lock_holder(path_, "FLOCK");
  const std::string pid = inside ? std::to_string(*inside) : pid_in(empty ? sign_.before : sign_.inside);
  const bool is_known = !pid.empty() && !is_gone(parse_number<pid_t>(pid).value_or(0));
  const std::string closed = fmt::format("The store's gate {} stayed closed for {:.1f} s", path_,
                                         std::chrono::duration<double>(waited).count());
  if (!is_known) {
    return {Code::unavailable,
            fmt::format("{}, and who is there cannot be told. Nothing was written. See who has it "
                        "open (fuser -v {}), and continue or end that.",
                        closed, path_)};
  }
  return {Code::unavailable,
          fmt::format(
              "{}: {} is {}. Nothing was written. If it is stopped, continue it (kill -CONT {}) or end it.",
              closed, named_process(pid), empty ? "next and does not go in" : "inside", pid)};
}

Error Gate::moved() const {
  return {Code::unavailable,
          fmt::format(
              "The store's gate {} was deleted or replaced while this process used it, and others may use "
              "another one by now. Nothing was written. Start this process again.",
              path_)};
}

}  // namespace leasehold::sqlite
