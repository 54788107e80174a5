// Waiting for what must come to be, and for no longer than a test may take.
#pragma once

#include <chrono>
#include <thread>

namespace leasehold {

// True once `condition` is; false if it never gets so.
template <class Condition>
bool eventually(const Condition& condition, std::chrono::milliseconds at_most = std::chrono::minutes(1)) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace leasehold
