#include "env/boottime_local_clock.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace leasehold {
namespace {

// poll()'s own timeout stops while the machine sleeps; a timer on CLOCK_BOOTTIME does not. Without one (no
// descriptors left), short naps do.
constexpr int kNapMs = 1000;

int timer_at(LocalTime moment) {
  const int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (fd < 0) return -1;
  // Zero would disarm it.
  const auto since_boot = std::max(moment.time_since_epoch(), LocalTime::duration(1));
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  itimerspec setting{};
  setting.it_value.tv_sec = whole.count();
  setting.it_value.tv_nsec = (since_boot - whole).count();
  if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &setting, nullptr) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

LocalTime BoottimeLocalClock::now() const {
  timespec moment{};
  clock_gettime(CLOCK_BOOTTIME, &moment);
  return LocalTime(std::chrono::seconds(moment.tv_sec) + std::chrono::nanoseconds(moment.tv_nsec));
}

void BoottimeLocalClock::wait(LocalTime until, int wake) {
  const bool forever = until == LocalTime::max();
  const int timer = forever ? -1 : timer_at(until);
  std::array<pollfd, 2> watched = {{{wake, POLLIN, 0}, {timer, POLLIN, 0}}};  // A negative one is ignored.
  poll(watched.data(), watched.size(), forever || timer >= 0 ? -1 : kNapMs);
  if (timer >= 0) close(timer);
}

}  // namespace leasehold
