#include "util/random.h"

#include <fmt/format.h>

namespace leasehold {

namespace {

// RFC 9562: 4 bits of version and 2 bits of variant are fixed.
std::string uuid_text(std::uint64_t high, std::uint64_t low, std::uint64_t version) {
  high = (high & ~0xf000ULL) | version << 12;
  low = (low & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                     low >> 48, low & 0xffffffffffffULL);
}

}  // namespace

std::string make_uuid(Random& random) {
  const std::uint64_t high = random.next();
  return uuid_text(high, random.next(), 4);
}

std::string make_uuid(Random& random, std::chrono::sys_time<std::chrono::microseconds> at) {
  const auto since_1970 = static_cast<std::uint64_t>(at.time_since_epoch().count());
  const std::uint64_t high = since_1970 / 1000 << 16 | (random.next() & 0xfff);
  return uuid_text(high, random.next(), 7);
}

}  // namespace leasehold
