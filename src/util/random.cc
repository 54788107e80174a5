#include "util/random.h"

namespace leasehold {

namespace {

// RFC 9562: 4 bits of version and 2 bits of variant are fixed. By hand: every lease and notice has one
// or two, and a formatter takes 3,000 instructions.
std::string uuid_text(std::uint64_t high, std::uint64_t low, std::uint64_t version) {
  high = (high & ~0xf000ULL) | version << 12;
  low = (low & ~(3ULL << 62)) | (2ULL << 62);
  std::string text = "00000000-0000-0000-0000-000000000000";
  int shift = 64;
  std::uint64_t half = high;
  for (char& place : text) {
    if (place == '-') continue;
    if (shift == 0) {
      half = low;
      shift = 64;
    }
    shift -= 4;
    place = "0123456789abcdef"[half >> shift & 0xf];
  }
  return text;
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
