// One process's way to leases in etcd, for tests with real members and real time.
#pragma once

#include "store/etcd/etcd_store.h"
#include "support/store_client.h"

namespace leasehold {

struct EtcdClient : StoreClient {
  explicit EtcdClient(const std::string& url, const EtcdOptions& options = {})
      : StoreClient(open_etcd_store(url, options)) {}
};

}  // namespace leasehold
