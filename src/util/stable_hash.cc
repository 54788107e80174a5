#include "util/stable_hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace leasehold {

std::string stable_hash(std::initializer_list<std::string_view> parts) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;

  std::uint64_t hash = kOffsetBasis;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * kPrime; };
  for (const std::string_view part : parts) {
    for (const char c : part) add(static_cast<unsigned char>(c));
    add(0);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace leasehold
