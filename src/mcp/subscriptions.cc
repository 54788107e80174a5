#include "mcp/subscriptions.h"

#include <poll.h>

namespace leasehold::mcp {

void follow(Changes& changes, const std::function<std::vector<std::string>()>& uris,
            const std::function<void(const std::string& uri)>& tell, int cancelled) {
  const auto is_cancelled = [&] {
    pollfd watched = {cancelled, POLLIN, 0};
    return ::poll(&watched, 1, 0) > 0;
  };
  while (!is_cancelled()) {
    for (const std::string& uri : changes.next(uris, cancelled)) tell(uri);
  }
}

void Subscriptions::add(const std::string& uri, const Notify& notify) {
  const std::lock_guard lock(mutex_);
  uris_.insert(uri);
  if (thread_.joinable()) return;
  // Made before the answer goes out: whatever happens after that is told.
  thread_ = std::jthread([this, notify, changes = Changes(desk_)]() mutable {
    follow(
        changes, [this] { return uris(); },
        [&](const std::string& changed) {
          notify(notification("notifications/resources/updated", {{"uri", changed}}));
        },
        stop_.fd());
  });
}

void Subscriptions::remove(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  uris_.erase(uri);
}

void Subscriptions::stop() {
  stop_.give();
  if (thread_.joinable()) thread_.join();
}

std::vector<std::string> Subscriptions::uris() {
  const std::lock_guard lock(mutex_);
  return {uris_.begin(), uris_.end()};
}

}  // namespace leasehold::mcp
