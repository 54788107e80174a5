#include "util/random.h"

#include <fmt/format.h>

namespace leasehold {

std::string make_uuid(Random& random) {
  // RFC 9562: 4 bits of version and 2 bits of variant are fixed.
  const std::uint64_t high = (random.next() & ~0xf000ULL) | 0x4000ULL;
  const std::uint64_t low = (random.next() & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                     low >> 48, low & 0xffffffffffffULL);
}

}  // namespace leasehold
