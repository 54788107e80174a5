#pragma once

#include <mutex>
#include <random>

#include "util/random.h"

namespace leasehold {

// Seeded by the kernel, once. Thread-safe.
class SystemRandom final : public Random {
 public:
  SystemRandom();

  std::uint64_t next() override;

 private:
  std::mutex mutex_;
  std::mt19937_64 generator_;
};

}  // namespace leasehold
