#pragma once

#include <unistd.h>

#include <cstddef>

#include "store/store.h"

namespace leasehold {

// How often the bell of a store in memory was rung since it was asked last.
inline std::size_t take_rings(const Bell& bell) {
  char rings[64];
  const ssize_t count = read(bell.fd(), rings, sizeof rings);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace leasehold
