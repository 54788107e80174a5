// Connections that wait to be used again.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "store/redis/connection.h"

namespace leasehold::redis {

// Thread-safe. A connection is one caller's until it is given back.
class Pool {
 public:
  Pool(Address address, Duration connect_timeout, Duration command_timeout)
      : address_(std::move(address)), connect_timeout_(connect_timeout), command_timeout_(command_timeout) {}

  // One that is idle, or a new one. After a failure to connect others fail at once with the same error, for a
  // while that doubles from 50 ms to a second: a server that comes back should not meet a storm.
  Result<std::unique_ptr<Connection>> borrow();
  void give_back(std::unique_ptr<Connection> connection);

  // A connection was lost: those that idle are likely of the same server's former life.
  void drop_idle();

  // One more, that never was and never will be idle.
  Result<std::unique_ptr<Connection>> connect();

  const Address& address() const { return address_; }

 private:
  const Address address_;
  const Duration connect_timeout_;
  const Duration command_timeout_;
  std::mutex mutex_;  // Guards what follows.
  std::vector<std::unique_ptr<Connection>> idle_;
  std::chrono::steady_clock::time_point closed_until_;
  Duration pause_{};
  Error last_error_;
};

}  // namespace leasehold::redis
