#include "run/signal_catcher.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "util/check.h"

namespace leasehold {
namespace {

constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

// A handler can reach nothing but globals. A signalfd would need none, but other threads would have to block
// the signals, and one that does not ends the process.
std::atomic<int> catching_end = -1;
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int number, siginfo_t* info, void* /*context*/) {
  const int errno_before = errno;
  const CaughtSignal caught{.number = number, .is_from_terminal = info->si_code == SI_KERNEL};
  // A full pipe has enough in it to wake the reader.
  [[maybe_unused]] const ssize_t written = ::write(catching_end.load(), &caught, sizeof caught);
  errno = errno_before;
}

}  // namespace

SignalCatcher::SignalCatcher() {
  LEASEHOLD_CHECK(::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) == 0);
  LEASEHOLD_CHECK(catching_end.exchange(pipe_[1]) == -1);
  for (const int number : kPassedOn) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    // nohup(1) and shells want it ignored, in the child as well.
    if (now.sa_handler != SIG_IGN) catch_one(number);
  }
  catch_one(SIGCHLD);
  catch_one(SIGPIPE);  // Standard error that nobody reads must not end us before the child.
}

SignalCatcher::~SignalCatcher() {
  restore_dispositions();
  catching_end = -1;
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void SignalCatcher::catch_one(int number) {
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  ::sigaction(number, &action, &before_[number]);
}

std::optional<CaughtSignal> SignalCatcher::next() const {
  CaughtSignal caught;
  for (;;) {
    const ssize_t count = ::read(pipe_[0], &caught, sizeof caught);
    if (count == sizeof caught) return caught;
    if (count < 0 && errno == EINTR) continue;
    return std::nullopt;
  }
}

void SignalCatcher::restore_dispositions() const {
  for (const auto& [number, action] : before_) ::sigaction(number, &action, nullptr);
}

}  // namespace leasehold
