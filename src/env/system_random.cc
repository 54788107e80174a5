#include "env/system_random.h"

#include <sys/random.h>

#include <array>

#include "util/check.h"

namespace leasehold {
namespace {

std::mt19937_64 seeded_by_the_kernel() {
  // Two processes that draw the same ids would take each other's leases for their own, so the whole
  // seed comes from the kernel. Eight words are far more than uniqueness needs.
  std::array<std::uint32_t, 8> words{};
  LEASEHOLD_CHECK(getrandom(words.data(), sizeof words, 0) == static_cast<ssize_t>(sizeof words));
  std::seed_seq seed(words.begin(), words.end());
  return std::mt19937_64(seed);
}

}  // namespace

SystemRandom::SystemRandom() : generator_(seeded_by_the_kernel()) {}

std::uint64_t SystemRandom::next() {
  const std::lock_guard lock(mutex_);
  return generator_();
}

}  // namespace leasehold
