// One process's way to leases in Redis, for tests with a real server and real time.
#pragma once

#include "store/redis/redis_store.h"
#include "support/store_client.h"

namespace leasehold {

struct RedisClient : StoreClient {
  explicit RedisClient(const std::string& url, const RedisOptions& options = quick())
      : StoreClient(open_redis_store(url, options)) {}

  static RedisOptions quick() { return {.connect_timeout = 500ms, .command_timeout = 500ms}; }
};

}  // namespace leasehold
