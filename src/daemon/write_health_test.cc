// When a store counts as one that takes no writes, and when it does again.
#include "daemon/write_health.h"

#include <gtest/gtest.h>

#include "support/forwarding_store.h"
#include "support/small_world.h"

namespace leasehold::daemon {
namespace {

// Like a full disk: only what gives back is taken.
class FullStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    if (is_full && !footprint.gives_back) return fail(Code::unavailable, "full");
    return ForwardingStore::transact(footprint, body);
  }
  Result<void> together(const std::function<void()>& calls) override {
    calls();
    if (loses_groups) return fail(Code::unavailable, "full");
    return {};
  }

  bool is_full = false;
  bool loses_groups = false;
};

struct Writes : testing::Test {
  Result<void> write() {
    return store.transact({.workspace = kWorkspace}, [](Transaction&) -> Result<void> { return {}; });
  }
  Result<void> give_back() {
    return store.transact({.workspace = kWorkspace, .gives_back = true},
                          [](Transaction&) -> Result<void> { return {}; });
  }
  bool is_well() const { return !health.failure(); }

  SmallWorld world;
  FullStore full{*world.store};
  std::vector<std::string> said;
  WriteHealth health{[this](LogLevel, const std::string& message) { said.push_back(message); }};
  WatchedStore store{full, health};
};

TEST_F(Writes, FailFromTheFirstThatIsRefusedToTheFirstProbeThatIsNot) {
  EXPECT_TRUE(write());
  EXPECT_TRUE(is_well());

  full.is_full = true;
  EXPECT_FALSE(write());
  EXPECT_FALSE(write());
  EXPECT_FALSE(is_well());
  EXPECT_EQ(said.size(), 1u);

  EXPECT_TRUE(give_back());
  EXPECT_FALSE(is_well()) << "giving back may succeed where nothing else does";
  ASSERT_TRUE(health.begin_probe());
  EXPECT_FALSE(health.begin_probe()) << "one at a time";
  health.end_probe(write());
  EXPECT_FALSE(is_well());
  EXPECT_EQ(said.size(), 1u);
}

TEST_F(Writes, AreWellAgainAfterAProbeDuringWhichNoneFailed) {
  full.is_full = true;
  EXPECT_FALSE(write());

  ASSERT_TRUE(health.begin_probe());
  EXPECT_FALSE(write());
  health.end_probe({});
  EXPECT_FALSE(is_well());

  full.is_full = false;
  ASSERT_TRUE(health.begin_probe());
  health.end_probe(write());
  EXPECT_TRUE(is_well());
  EXPECT_EQ(said.size(), 2u);
  EXPECT_FALSE(health.begin_probe()) << "that was just now";
}

TEST_F(Writes, ADecisionOfTheBodySaysNothingAboutTheStore) {
  const auto refused = store.transact({.workspace = kWorkspace}, [](Transaction&) -> Result<void> {
    return fail(Code::not_found, "no such lease");
  });

  EXPECT_FALSE(refused);
  EXPECT_TRUE(is_well());
}

TEST_F(Writes, WhereSomethingIsCorruptOnlyAProbeTellsWhetherAllIs) {
  ASSERT_TRUE(health.begin_probe());
  health.end_probe(write());

  const auto read = store.transact({.workspace = kWorkspace}, [](Transaction&) -> Result<void> {
    return fail(Code::corrupt, "a lease that nobody wrote");
  });

  EXPECT_FALSE(read);
  EXPECT_TRUE(is_well());
  ASSERT_TRUE(health.begin_probe()) << "though one was made just now";
  health.end_probe(read);
  EXPECT_FALSE(is_well());
}

TEST_F(Writes, OfAGroupThatIsMadeAgainOneByOneDoNotCountYet) {
  full.is_full = true;
  full.loses_groups = true;
  EXPECT_FALSE(store.together([&] { EXPECT_FALSE(write()); }));
  EXPECT_TRUE(is_well());

  full.loses_groups = false;
  EXPECT_TRUE(store.together([&] { EXPECT_FALSE(write()); }));
  EXPECT_FALSE(is_well());
}

}  // namespace
}  // namespace leasehold::daemon
