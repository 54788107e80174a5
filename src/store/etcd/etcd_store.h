#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "leasehold/result.h"
#include "store/clock.h"
#include "store/store.h"

namespace leasehold {

struct EtcdOptions {
  // What the URL says goes before these.
  Duration timeout = std::chrono::seconds(5);  // Of one step, over all members that can be tried meanwhile.
  int max_txn_ops = 128;                       // The server's --max-txn-ops.

  // How often a body runs before `transaction_conflict`, with pauses of up to 20 ms in between.
  int attempts_max = 40;

  // Told once when the store is opened, of what endangers leases.
  std::function<void(const std::string&)> on_warning;

  // For tests: another clock than the wall's. Leases then end by it and not by etcd's.
  const StoreClock* clock = nullptr;
};

// Leases of several machines, on one etcd cluster (3.4 or later): what was acknowledged stays, whichever
// minority of its members is lost.
//
// etcd://[user:password@]host[:port],...[/prefix], etcds://... (TLS); what may follow a question mark stands
// in store/etcd/address.h and docs/formats/etcd.md.
//
// A store must not be used after fork(2) in the child.
// Errors: unavailable, config_error (the URL, the password, a certificate).
Result<std::unique_ptr<Store>> open_etcd_store(std::string_view url, const EtcdOptions& options = {});

}  // namespace leasehold
