#pragma once

#include <cstdint>
#include <string>

namespace leasehold {

// Where chance comes from: passed in, so that a test can repeat it.
class Random {
 public:
  virtual ~Random() = default;

  virtual std::uint64_t next() = 0;
};

// A random (version 4) UUID as text.
std::string make_uuid(Random& random);

}  // namespace leasehold
