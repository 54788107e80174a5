// The store of lease-etcd and lease-serve-etcd.
#include <cstdlib>

#include "open/etcd.h"
#include "store/etcd/etcd_store.h"

namespace leasehold {

Result<std::unique_ptr<Store>> open_etcd(const std::string& url, const StorePlace& site) {
  // What gRPC writes to standard error by itself is not for people; who looks for something in it can ask.
  setenv("GRPC_VERBOSITY", "NONE", 0);  // NOLINT(concurrency-mt-unsafe): before there are threads.
  EtcdOptions options;
  options.on_warning = [&site](const std::string& warning) { site.notes.push_back(warning); };
  return open_etcd_store(url, options);
}

}  // namespace leasehold
