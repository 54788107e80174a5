#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "util/random.h"

namespace leasehold {

// The kernel's, drawn in stock: two processes that drew the same ids would take each other's leases for their
// own. Thread-safe.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;

 private:
  std::mutex mutex_;
  std::array<std::uint64_t, 32> words_{};  // As much as one getrandom(2) never gives in part.
  std::size_t used_ = words_.size();
};

}  // namespace leasehold
