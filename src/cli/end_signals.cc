#include "cli/end_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace leasehold {

EndSignals::EndSignals() {
  sigset_t caught;
  ::sigemptyset(&caught);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) ::sigaddset(&caught, number);
  }
  ::sigprocmask(SIG_BLOCK, &caught, &before_);
  descriptor_ = ::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool EndSignals::came() const {
  pollfd descriptor = {descriptor_, POLLIN, 0};
  return ::poll(&descriptor, 1, 0) > 0;
}

EndSignals::~EndSignals() {
  if (descriptor_ >= 0) {
    signalfd_siginfo caught{};
    const bool ended = ::read(descriptor_, &caught, sizeof caught) == sizeof caught;
    ::close(descriptor_);
    // Whoever sent it wants to see that it did its work. Blocked until the mask is back.
    if (ended) ::raise(static_cast<int>(caught.ssi_signo));
  }
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace leasehold
