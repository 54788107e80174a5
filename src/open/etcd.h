// etcd is opened by programs of its own (lease-etcd, lease-serve-etcd), so that no other pays for gRPC.
#pragma once

#include <memory>
#include <string>

#include "open/stores.h"

namespace leasehold {

// Defined by those programs only that can: lease-etcd and lease-serve-etcd open the store, lease and
// lease-serve become them. Null in all others.
[[gnu::weak]] Result<std::unique_ptr<Store>> open_etcd(const std::string& url, const StorePlace& site);

// Null in programs that know etcd. In those that step aside: from now on this one has read what it cannot
// hand on, and to open etcd is an error.
[[gnu::weak]] void stay_this_program();

}  // namespace leasehold
