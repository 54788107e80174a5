#include "daemon/waiting.h"

#include <poll.h>

#include <algorithm>

namespace leasehold::daemon {
namespace {

bool is_any_readable(const std::vector<int>& fds) {
  return std::ranges::any_of(fds, [](int fd) {
    pollfd state = {fd, POLLIN, 0};
    return ::poll(&state, 1, 0) > 0;
  });
}

}  // namespace

Steps steps_of(const std::shared_ptr<Waiter>& waiter) {
  return {.look = [waiter] { waiter->look(); },
          .undo = [waiter] { waiter->undo(); },
          .give_up = [waiter] { waiter->give_up(); },
          .is_done = [waiter] { return waiter->answer().has_value(); },
          .pause = [waiter] { return waiter->pause(); },
          .glance = [waiter] { waiter->glance(); }};
}

asio::awaitable<Result<void>> Waiting::look(ServerState& server) {
  Result<void> kept;
  if (!is_due_ || is_done()) co_return kept;
  kept = co_await run_on(server.writer, steps_.look, steps_.undo);
  is_due_ = false;
  if (kept && !is_done()) next_ = std::chrono::steady_clock::now() + steps_.pause().at_most;
  co_return kept;
}

asio::awaitable<void> Waiting::sleep(ServerState& server, const std::vector<int>& also, Duration at_most) {
  const Waiter::Pause pause = steps_.pause();
  const auto left = std::chrono::ceil<Duration>(next_ - std::chrono::steady_clock::now());
  std::vector<int> fds = pause.fds;
  fds.insert(fds.end(), also.begin(), also.end());
  const Duration longest = std::clamp(left, Duration::zero(), at_most);
  co_await sleep_on(server, fds, longest);
  is_due_ = std::chrono::steady_clock::now() >= next_ || is_any_readable(pause.fds);
  if (is_due_ && steps_.glance) co_await run_on(server.reader, steps_.glance);
}

asio::awaitable<Result<void>> Waiting::give_up(ServerState& server) {
  const Result<void> kept = co_await run_on(server.writer, steps_.give_up, steps_.undo);
  co_return kept;
}

}  // namespace leasehold::daemon
