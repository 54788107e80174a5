#include "store/etcd/changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace leasehold::etcd {
namespace {

constexpr std::size_t kMost = 63;

Basis basis_of(int ranges, int keys) {
  Basis basis;
  for (int i = 0; i < ranges; ++i) basis.add(area(fmt::format("range-{:04}", i)));
  for (int i = 0; i < keys; ++i) basis.add(fmt::format("key-{:04}", i), 7);
  return basis;
}

bool is_covered(const std::string& key, const std::vector<pb::Compare>& compares) {
  return std::ranges::any_of(compares, [&](const pb::Compare& one) {
    return one.range_end().empty() ? one.key() == key : one.key() <= key && key < one.range_end();
  });
}

// However many there are, of one kind or both.
TEST(EtcdBasis, FitsAndLeavesNothingOut) {
  for (const auto& [ranges, keys] : std::vector<std::pair<int, int>>{{0, 0},
                                                                     {1, 0},
                                                                     {0, 1},
                                                                     {62, 1},
                                                                     {64, 0},
                                                                     {0, 64},
                                                                     {500, 0},
                                                                     {0, 500},
                                                                     {500, 500},
                                                                     {1, 500},
                                                                     {500, 1}}) {
    const std::vector<pb::Compare> compares = basis_of(ranges, keys).compares(9, kMost);

    EXPECT_LE(compares.size(), kMost) << ranges << " " << keys;
    for (int i = 0; i < ranges; ++i) ASSERT_TRUE(is_covered(fmt::format("range-{:04}", i), compares)) << i;
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(is_covered(fmt::format("key-{:04}", i), compares)) << i;
  }
}

}  // namespace
}  // namespace leasehold::etcd
