#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "leasehold/result.h"
#include "store/clock.h"
#include "store/store.h"

namespace leasehold {

struct RedisOptions {
  // What the URL says goes before these.
  Duration connect_timeout = std::chrono::seconds(2);
  Duration command_timeout = std::chrono::seconds(3);  // Of one round trip.

  // Nothing: each workspace has its own. One name: all share it; empty: the names have no prefix at all.
  std::optional<std::string> name_space;

  // How often a body runs before `transaction_conflict`, with pauses of up to 20 ms in between.
  int attempts_max = 40;

  // History older than this goes when something is added to it, whoever sweeps or does not.
  Duration history_life = std::chrono::hours(24 * 90);

  // Told once when the store is opened, of each setting of the server that endangers leases.
  std::function<void(const std::string&)> on_warning;

  // For tests: another clock than the server's. Keys then have no expiry of their own.
  const StoreClock* clock = nullptr;
};

// Leases of several machines, on one Redis server (7.0 or later).
//
// redis://[[user]:password@]host[:port][/database], rediss://... (TLS), redis+unix:///path?db=N; what may
// follow a question mark stands in store/redis/address.h and docs/formats/redis.md.
//
// A store must not be used after fork(2) in the child.
// Errors: unavailable, config_error (the URL, the password, a certificate, a server that is too old).
Result<std::unique_ptr<Store>> open_redis_store(std::string_view url, const RedisOptions& options = {});

}  // namespace leasehold
