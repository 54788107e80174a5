#include <gtest/gtest.h>

#include <set>

#include "leasehold/gate.h"

namespace leasehold {
namespace {

// The words of every enumerator from the first to `last`: each leads back, and no two are the same.
template <class Enum>
void expect_round_trip(Enum last) {
  std::set<std::string_view> words;
  const int count = static_cast<int>(last) + 1;
  for (int i = 0; i < count; ++i) {
    const Enum value = static_cast<Enum>(i);
    EXPECT_FALSE(word(value).empty());
    EXPECT_EQ(from_word<Enum>(word(value)), value) << word(value);
    words.insert(word(value));
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(count)) << "two values share a word";

  for (const std::string_view unknown : {"", "Shared", "active ", "nothing", "0"}) {
    EXPECT_EQ(from_word<Enum>(unknown), std::nullopt) << unknown;
  }
}

TEST(Words, LeadBackToTheirValues) {
  expect_round_trip(Mode::exclusive);
  expect_round_trip(Status::failed);
  expect_round_trip(EndCause::merged);
  expect_round_trip(EventType::instructed);
  expect_round_trip(Liveness::unknown);
  expect_round_trip(ContentionState::abandoned);
  expect_round_trip(Instruction::abandon);
  expect_round_trip(Telling::kept);
}

// They are in the stores and in scripts.
TEST(Words, AreThoseOfTheDesign) {
  EXPECT_EQ(word(Mode::shared), "shared");
  EXPECT_EQ(word(Mode::exclusive), "exclusive");
  EXPECT_EQ(word(Status::pending), "pending");
  EXPECT_EQ(word(Status::active), "active");
  EXPECT_EQ(word(Status::released), "released");
  EXPECT_EQ(word(Status::expired), "expired");
  EXPECT_EQ(word(Status::failed), "failed");
  EXPECT_EQ(word(Liveness::alive), "alive");
  EXPECT_EQ(word(Liveness::dead), "dead");
  EXPECT_EQ(word(Liveness::unknown), "unknown");
}

}  // namespace
}  // namespace leasehold
