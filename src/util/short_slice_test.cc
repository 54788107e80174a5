#include "util/short_slice.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

namespace leasehold {
namespace {

// This thread's, in nanoseconds. 0: this Linux has none for usual threads.
std::uint64_t slice() {
  constexpr std::size_t kRuntime = 24;  // Where struct sched_attr has it.
  std::array<char, 48> attributes{};
  if (syscall(SYS_sched_getattr, 0, attributes.data(), attributes.size(), 0) != 0) return 0;
  std::uint64_t runtime = 0;
  std::memcpy(&runtime, attributes.data() + kRuntime, sizeof runtime);
  return runtime;
}

TEST(ShortSlice, IsOfThisThreadAndAsItWasAfterwards) {
  const std::uint64_t usual = slice();
  {
    const ShortSlice shorter;
    if (usual != 0) {
      EXPECT_EQ(slice(), 100'000U);
    }
    std::thread([&] { const ShortSlice of_another_thread; }).join();
    if (usual != 0) {
      EXPECT_EQ(slice(), 100'000U);
    }
  }
  EXPECT_EQ(slice(), usual);
}

}  // namespace
}  // namespace leasehold
