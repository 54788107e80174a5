#include "run/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "run/descendants.h"
#include "run/signal_catcher.h"
#include "util/check.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
constexpr int kSignalBase = 128;

// How often to look whether all is over, once a command is being ended: descendants that are not our children
// end without telling us.
constexpr auto kLookAtTheEnd = 20ms;

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? kSignalBase + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool is_replaced = std::ranges::any_of(variables, [&](const auto& variable) {
      return text.starts_with(variable.first) && text.substr(variable.first.size()).starts_with('=');
    });
    if (!is_replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : variables) result.push_back(fmt::format("{}={}", name, value));
  return result;
}

// Orphans come to us instead of to init, so that none is missed when all have to end.
class Subreaper {
 public:
  Subreaper() {
    ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;
  ~Subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, before_); }

 private:
  int before_ = 0;
};

class Supervisor {
 public:
  explicit Supervisor(const ChildProcess& child) : child_(child) {}

  ChildEnd run() {
    if (const int problem = start(); problem != 0) return could_not_start(problem);
    while (!is_over()) {
      wait_for_news();
      pass_signals_on();
      reap();
      if (!end_.is_lost) look_whether_lost();
      if (end_.is_lost) press_on();
    }
    return end_;
  }

 private:
  // 0, or errno.
  int start();
  [[noreturn]] void become_command(int report, const sigset_t& mask, pid_t parent, char** arguments,
                                   char** environment) const;
  ChildEnd could_not_start(int problem) const;

  void wait_for_news() const;
  void pass_signals_on() const;
  void reap();
  void look_whether_lost();
  void press_on();
  bool is_over() const { return has_ended_ && (!end_.is_lost || nothing_left_); }

  const ChildProcess& child_;
  const SignalCatcher signals_;
  const Subreaper subreaper_;
  pid_t pid_ = -1;
  bool has_ended_ = false;
  ChildEnd end_;

  Clock::time_point look_at_ = Clock::now();
  // While it is being ended.
  bool nothing_left_ = false;
  Clock::time_point kill_at_;
};

int Supervisor::start() {
  // Made before fork: afterwards only what is async-signal-safe may be called.
  const std::vector<std::string> environment = environment_with(child_.variables);
  std::vector<char*> environment_pointers = pointers(environment);
  std::vector<char*> argument_pointers = pointers(child_.command);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return errno;
  // A signal that the child gets before it is itself would come out of our pipe, as ours.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  const int fork_problem = errno;
  if (pid_ == 0) {
    become_command(report[1], before, parent, argument_pointers.data(), environment_pointers.data());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(report[1]);
  int problem = pid_ < 0 ? fork_problem : 0;
  ssize_t count = 0;
  if (pid_ > 0) {
    do {
      count = ::read(report[0], &problem, sizeof problem);
    } while (count < 0 && errno == EINTR);
  }
  ::close(report[0]);
  if (pid_ > 0 && problem != 0) ::waitpid(pid_, nullptr, 0);
  return problem;
}

void Supervisor::become_command(int report, const sigset_t& mask, pid_t parent, char** arguments,
                                char** environment) const {
  signals_.restore_dispositions();
  // Killed supervisors cannot end their command, and nothing would protect what it does.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kSignalBase + SIGTERM);
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::execvpe(arguments[0], arguments, environment);
  const int problem = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &problem, sizeof problem);
  ::_exit(kNotFound);
}

ChildEnd Supervisor::could_not_start(int problem) const {
  const std::string message = std::generic_category().message(problem);
  return {.exit_status = problem == ENOENT ? kNotFound : kCannotRun,
          .not_started = fmt::format("Cannot run {}: {}.", in_sentence(child_.command.front()), message)};
}

void Supervisor::wait_for_news() const {
  pollfd polled[] = {{.fd = signals_.descriptor(), .events = POLLIN}, {.fd = child_.wake, .events = POLLIN}};
  const nfds_t count = child_.wake >= 0 && !end_.is_lost ? 2 : 1;
  const auto until = end_.is_lost ? Clock::now() + kLookAtTheEnd : look_at_;
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  const bool looks = child_.is_lost || end_.is_lost;
  ::poll(polled, count, looks ? static_cast<int>(std::clamp<std::int64_t>(rest, 0, 60'000)) : -1);
}

void Supervisor::pass_signals_on() const {
  while (const auto caught = signals_.next()) {
    const bool is_for_child = caught->number != SIGCHLD && caught->number != SIGPIPE;
    if (is_for_child && !caught->is_from_terminal && !has_ended_) ::kill(pid_, caught->number);
  }
}

void Supervisor::reap() {
  for (;;) {
    int wait_status = 0;
    const pid_t ended = ::waitpid(-1, &wait_status, WNOHANG);
    if (ended <= 0) return;
    if (ended != pid_) continue;  // An orphan.
    has_ended_ = true;
    end_.exit_status = status_of(wait_status);
  }
}

void Supervisor::look_whether_lost() {
  if (has_ended_ || !child_.is_lost) return;
  look_at_ = Clock::now() + child_.look_every;
  if (!child_.is_lost()) return;
  end_.is_lost = true;
  kill_at_ = Clock::now() + child_.grace;
  auto running = descendants_of(::getpid());
  if (running.empty()) running.push_back(pid_);
  for (const pid_t one : running) {
    ::kill(one, SIGTERM);
    ::kill(one, SIGCONT);  // One that is stopped could not end.
  }
}

void Supervisor::press_on() {
  auto running = descendants_of(::getpid());
  if (running.empty() && !has_ended_) running.push_back(pid_);
  nothing_left_ = running.empty();
  if (Clock::now() < kill_at_) return;
  for (const pid_t one : running) ::kill(one, SIGKILL);
}

}  // namespace

ChildEnd supervise(const ChildProcess& child) {
  LEASEHOLD_CHECK(!child.command.empty());
  return Supervisor(child).run();
}

}  // namespace leasehold
