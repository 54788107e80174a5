#pragma once

#include <vector>

#include "store/etcd/transaction.h"

namespace leasehold::etcd {

// Looks through all keys of a workspace for values that cannot be read and for pointers that lead nowhere,
// and with `repair` deletes them, each on the condition that it is still as it was seen; so it may run while
// others work. Raises the base of tokens if a cluster was restored from an older copy. Throws Failure.
std::vector<Defect> examine_keys(Shared& shared, const Keys& keys, bool repair);

}  // namespace leasehold::etcd
