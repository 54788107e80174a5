#pragma once

#include <chrono>

#include "leasehold/lease.h"

namespace leasehold {

// What this machine's clock shows people. No lease is decided by it where a store has a better one.
inline WallTime wall_now() {
  return std::chrono::floor<WallTime::duration>(std::chrono::system_clock::now());
}

}  // namespace leasehold
