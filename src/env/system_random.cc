#include "env/system_random.h"

#include <sys/random.h>

#include "util/check.h"

namespace leasehold {

std::uint64_t SystemRandom::next() {
  const std::lock_guard lock(mutex_);
  if (used_ == words_.size()) {
    LEASEHOLD_CHECK(getrandom(words_.data(), sizeof words_, 0) == static_cast<ssize_t>(sizeof words_));
    used_ = 0;
  }
  return words_[used_++];
}

}  // namespace leasehold
