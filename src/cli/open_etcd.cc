// The store of lease-etcd.
#include "open/etcd.h"
#include "store/etcd/etcd_store.h"

namespace leasehold {

Result<std::unique_ptr<Store>> open_etcd(const std::string& url, const StorePlace& site) {
  EtcdOptions options;
  options.on_warning = [&site](const std::string& warning) { site.notes.push_back(warning); };
  return open_etcd_store(url, options);
}

}  // namespace leasehold
