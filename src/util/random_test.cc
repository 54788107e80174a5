#include "util/random.h"

#include <gtest/gtest.h>

#include <regex>

namespace leasehold {
namespace {

using namespace std::chrono_literals;

class Fixed final : public Random {
 public:
  explicit Fixed(std::uint64_t value) : value_(value) {}
  std::uint64_t next() override { return value_; }

 private:
  std::uint64_t value_;
};

constexpr std::chrono::sys_time<std::chrono::microseconds> kMoment{1'700'000'000'123'456us};

TEST(Uuid, HasTheFixedBitsOfItsVersionWhateverWasDrawn) {
  for (const std::uint64_t drawn : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x123456789abcdef0}}) {
    Fixed random(drawn);
    EXPECT_TRUE(
        std::regex_match(make_uuid(random),
                         std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")));
    EXPECT_TRUE(std::regex_match(make_uuid(random, kMoment),
                                 std::regex("018bcfe5-687b-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")));
  }
}

TEST(Uuid, HasAllTheOtherBitsThatWereDrawn) {
  Fixed random(0x123456789abcdef0);
  EXPECT_EQ(make_uuid(random), "12345678-9abc-4ef0-9234-56789abcdef0");
  EXPECT_EQ(make_uuid(random, kMoment), "018bcfe5-687b-7ef0-9234-56789abcdef0");
}

TEST(Uuid, OfALaterMomentComesAfterOneOfAnEarlier) {
  Fixed high(~std::uint64_t{0});
  Fixed low(0);
  EXPECT_LT(make_uuid(high, kMoment), make_uuid(low, kMoment + 1ms));
}

}  // namespace
}  // namespace leasehold
