#pragma once

#include "leasehold/error.h"

namespace leasehold::etcd {

// Thrown by whatever fails below a call of the store, and caught by that call only.
struct Failure {
  Error error;
};

// What was read is not what is there any more: the body has to run again. Thrown and caught likewise.
struct Conflict {};

// A lease of etcd's that we attach keys to is over, sooner than it should: this machine slept, or etcd lost
// its data. Nothing was written.
struct LeaseGone {};

}  // namespace leasehold::etcd
