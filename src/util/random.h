#pragma once

#include <chrono>
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

// One that begins with the time (version 7): those of one moment stand together in an index.
std::string make_uuid(Random& random, std::chrono::sys_time<std::chrono::microseconds> at);

}  // namespace leasehold
