#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "leasehold/lease.h"
#include "util/random.h"

namespace leasehold::simulation {

// All the chance there is in a run. The same seed throws the same numbers, on every machine: the
// standard fixes the engine, and its distributions (which it does not fix) are not used.
class Dice final : public Random {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() override { return engine_(); }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }
  bool chance(unsigned percent) { return below(100) < percent; }

  Duration between(Duration least, Duration most) {
    return least +
           Duration(static_cast<Duration::rep>(below(static_cast<std::size_t>((most - least).count()) + 1)));
  }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace leasehold::simulation
