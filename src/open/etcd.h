// etcd is opened by a program of its own (lease-etcd), so that no other pays for gRPC.
#pragma once

#include <memory>
#include <string>

#include "open/stores.h"

namespace leasehold {

// Defined by those programs only that can: lease-etcd opens the store, lease becomes lease-etcd. Null in all
// others.
[[gnu::weak]] Result<std::unique_ptr<Store>> open_etcd(const std::string& url, const StorePlace& site);

}  // namespace leasehold
