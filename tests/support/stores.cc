#include "support/stores.h"

#include <cstdio>
#include <cstdlib>

#include "store/etcd/etcd_store.h"
#include "store/memory/memory_store.h"
#include "store/redis/redis_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/etcd_cluster.h"
#include "support/forwarding_store.h"
#include "support/redis_server.h"
#include "support/temp_folder.h"

namespace leasehold {
namespace {

// The data of a memory store lives in the one store, so every handle leads there.
class MemorySite final : public StoreSite {
 public:
  explicit MemorySite(const StoreClock& clock) : store_(open_memory_store(clock)) {}

  std::unique_ptr<Store> open() override { return std::make_unique<ForwardingStore>(*store_); }

 private:
  std::unique_ptr<Store> store_;
};

std::unique_ptr<Store> must_be_open(Result<std::unique_ptr<Store>> store) {
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    std::abort();
  }
  return std::move(*store);
}

class SqliteSite final : public StoreSite {
 public:
  explicit SqliteSite(const StoreClock& clock) : clock_(clock) {}

  std::unique_ptr<Store> open() override {
    auto store = open_sqlite_store(
        {.folder = folder_.path() + "/store", .machine_id = "this machine", .boot_id = "this boot"}, clock_);
    return must_be_open(std::move(store));
  }

 private:
  const StoreClock& clock_;
  TempFolder folder_;
};

class RedisSite final : public StoreSite {
 public:
  explicit RedisSite(const StoreClock& clock) : clock_(clock) {}

  std::unique_ptr<Store> open() override {
    auto store = open_redis_store(database_.url(), {.clock = &clock_});
    return must_be_open(std::move(store));
  }

 private:
  const StoreClock& clock_;
  RedisDatabase database_;
};

class EtcdSite final : public StoreSite {
 public:
  explicit EtcdSite(const StoreClock& clock) : clock_(clock) {}

  std::unique_ptr<Store> open() override {
    auto store = open_etcd_store(url_, {.clock = &clock_});
    return must_be_open(std::move(store));
  }

 private:
  const StoreClock& clock_;
  const std::string url_ = fresh_etcd_url();
};

template <class Site>
std::unique_ptr<StoreSite> make(const StoreClock& clock) {
  return std::make_unique<Site>(clock);
}

}  // namespace

std::vector<StoreFactory> available_stores() {
  return {
      {.name = "memory", .missing = "", .make = make<MemorySite>},
      {.name = "sqlite", .missing = "", .make = make<SqliteSite>},
      {.name = "redis", .missing = "", .make = make<RedisSite>},
      {.name = "etcd", .missing = "", .make = make<EtcdSite>},
  };
}

}  // namespace leasehold
