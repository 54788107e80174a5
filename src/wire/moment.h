#pragma once

#include "leasehold/lease.h"

namespace leasehold {

// The store's time and people's, at one moment.
struct Moment {
  Time now;
  WallTime wall;
};

}  // namespace leasehold
