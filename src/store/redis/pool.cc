#include "store/redis/pool.h"

#include <algorithm>

namespace leasehold::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kIdleMax = 64;
constexpr std::size_t kScratchMax = 1 << 20;
constexpr Duration kFirstPause = 50ms;
constexpr Duration kLongestPause = 1s;

}  // namespace

Result<std::unique_ptr<Connection>> Pool::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return connect();
}

Result<std::unique_ptr<Connection>> Pool::connect() {
  {
    const std::lock_guard lock(mutex_);
    if (std::chrono::steady_clock::now() < closed_until_) return fail(last_error_);
  }
  auto connection = Connection::open(address_, connect_timeout_, command_timeout_);
  const std::lock_guard lock(mutex_);
  if (connection) {
    pause_ = Duration::zero();
    closed_until_ = {};
  } else if (connection.error().code == Code::unavailable) {
    pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
    closed_until_ = std::chrono::steady_clock::now() + pause_;
    last_error_ = connection.error();
  }
  return connection;
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  connection->drop_pending();
  connection->was_used = true;
  if (connection->scratch.capacity() > kScratchMax) connection->scratch = {};
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(connection));
}

void Pool::drop_idle() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

}  // namespace leasehold::redis
