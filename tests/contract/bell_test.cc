// Bells: heard after the commit, and only then.
#include <poll.h>

#include <atomic>
#include <thread>

#include "contract/store_contract.h"
#include "support/faulty_store.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// A ring may take a while to arrive from a server. Far more than it should ever need.
constexpr std::chrono::milliseconds kPatience = 10s;

bool is_rung(const Bell& bell, std::chrono::milliseconds patience = 0ms) {
  pollfd waiting{bell.fd(), POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(patience.count())) == 1 && (waiting.revents & POLLIN) != 0;
}

std::unique_ptr<Bell> listen(Store& store, int ticket) {
  auto bell = store.listen(kWorkspace, group_id(ticket));
  if (!bell) {
    ADD_FAILURE() << testing::PrintToString(bell.error());
    return nullptr;
  }
  return std::move(*bell);
}

// What was not rung so far will not be heard any more once this was.
void ring_and_hear_another(StoreContract& test) {
  const auto another = listen(*test.store, 999);
  test.commit([](Transaction& transaction) { transaction.ring(group_id(999)); });
  ASSERT_TRUE(is_rung(*another, kPatience));
}

TEST_P(StoreContract, ABellIsSilentUntilItIsRung) {
  const auto bell = listen(*store, 1);
  EXPECT_FALSE(is_rung(*bell));

  commit([](Transaction& transaction) { transaction.ring(group_id(1)); });

  EXPECT_TRUE(is_rung(*bell, kPatience));
  EXPECT_TRUE(is_rung(*bell)) << "it stays readable";
}

TEST_P(StoreContract, ABellIsNotHeardBeforeTheCommit) {
  const auto bell = listen(*store, 1);

  commit([&](Transaction& transaction) {
    transaction.put(make_lease(1, "/a"));
    transaction.ring(group_id(1));
    EXPECT_FALSE(is_rung(*bell));
  });

  EXPECT_TRUE(is_rung(*bell, kPatience));
}

TEST_P(StoreContract, WhoHearsABellSeesWhatWasCommitted) {
  const auto other = open_again();
  for (int round = 1; round <= 20; ++round) {
    const auto bell = listen(*store, round);
    const std::jthread ringer([&] {
      EXPECT_TRUE(transact_patiently(*other, nothing_named(), [&](Transaction& transaction) {
        transaction.ring(group_id(round));
        transaction.put(make_lease(round, "/a"));
        return Result<void>();
      }));
    });

    ASSERT_TRUE(is_rung(*bell, kPatience));
    look([&](View& view) { EXPECT_TRUE(view.lease(lease_id(round))); });
  }
}

TEST_P(StoreContract, AnAbortedBodyRingsNoBell) {
  const auto bell = listen(*store, 1);

  abort([](Transaction& transaction) { transaction.ring(group_id(1)); });

  ring_and_hear_another(*this);
  EXPECT_FALSE(is_rung(*bell));
}

TEST_P(StoreContract, ABodyThatIsRunAgainInVainRingsNoBell) {
  FaultyStore faulty(*store);
  faulty.run_in_vain(2);
  const auto bell = listen(faulty, 1);

  int runs = 0;
  ASSERT_TRUE(faulty.transact(nothing_named(), [&](Transaction& transaction) -> Result<void> {
    if (++runs < 3) transaction.ring(group_id(1));
    return {};
  }));

  ring_and_hear_another(*this);
  EXPECT_FALSE(is_rung(*bell));
}

TEST_P(StoreContract, ABellOpenedBeforeItsTicketExistsIsHeard) {
  const auto bell = listen(*store, 1);
  commit([](Transaction& transaction) { transaction.put(make_ticket(1, {"/a"})); });
  ring_and_hear_another(*this);
  EXPECT_FALSE(is_rung(*bell)) << "writing the ticket is no ring";

  commit([](Transaction& transaction) { transaction.ring(group_id(1)); });

  EXPECT_TRUE(is_rung(*bell, kPatience));
}

TEST_P(StoreContract, ABodyThatOnlyRingsIsACommitToo) {
  const auto bell = listen(*store, 1);

  commit([](Transaction& transaction) { transaction.ring(group_id(1)); });

  EXPECT_TRUE(is_rung(*bell, kPatience));
}

TEST_P(StoreContract, EveryListenerHearsTheBellOnWhicheverHandle) {
  const auto other = open_again();
  const auto first = listen(*store, 1);
  const auto second = listen(*store, 1);
  const auto third = listen(*other, 1);

  commit([](Transaction& transaction) { transaction.ring(group_id(1)); });

  EXPECT_TRUE(is_rung(*first, kPatience));
  EXPECT_TRUE(is_rung(*second, kPatience));
  EXPECT_TRUE(is_rung(*third, kPatience));
}

TEST_P(StoreContract, ABellIsNotRungByAnotherTickets) {
  const auto bell = listen(*store, 1);
  const auto others = listen(*store, 2);

  commit([](Transaction& transaction) { transaction.ring(group_id(2)); });

  EXPECT_TRUE(is_rung(*others, kPatience));
  ring_and_hear_another(*this);
  EXPECT_FALSE(is_rung(*bell));
}

TEST_P(StoreContract, OneBodyMayRingManyBellsAndOneOfThemTwice) {
  const auto first = listen(*store, 1);
  const auto second = listen(*store, 2);

  commit([](Transaction& transaction) {
    transaction.ring(group_id(1));
    transaction.ring(group_id(2));
    transaction.ring(group_id(1));
  });

  EXPECT_TRUE(is_rung(*first, kPatience));
  EXPECT_TRUE(is_rung(*second, kPatience));
}

TEST_P(StoreContract, RingingABellThatNobodyHearsIsHarmless) {
  auto closed = listen(*store, 1);
  const auto open = listen(*store, 1);
  closed.reset();

  commit([](Transaction& transaction) {
    transaction.ring(group_id(1));
    transaction.ring(group_id(2));
  });

  EXPECT_TRUE(is_rung(*open, kPatience));
}

// The new bell may well have the descriptor that the closed one had.
TEST_P(StoreContract, ARingForAClosedBellIsNotHeardByOneOpenedSince) {
  listen(*store, 1).reset();
  const auto another = listen(*store, 2);

  commit([](Transaction& transaction) { transaction.ring(group_id(1)); });

  ring_and_hear_another(*this);
  EXPECT_FALSE(is_rung(*another));
}

TEST_P(StoreContract, BellsMayBeOpenedAndClosedWhileTheyAreRung) {
  const auto other = open_again();
  std::atomic<bool> done = false;
  const std::jthread ringer([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(transact_patiently(*other, nothing_named(), [](Transaction& transaction) {
        transaction.ring(group_id(1));
        return Result<void>();
      }));
    }
    done = true;
  });

  while (!done) {
    const auto first = listen(*store, 1);
    const auto second = listen(*store, 1);
  }
}

TEST_P(StoreContract, ALostRingIsNotHeardButWhatWasWrittenIsThere) {
  FaultyStore faulty(*store);
  faulty.lose_rings(1);
  const auto bell = listen(faulty, 1);
  const auto put_and_ring = [](Transaction& transaction) -> Result<void> {
    transaction.put(make_lease(1, "/a"));
    transaction.ring(group_id(1));
    return {};
  };

  ASSERT_TRUE(faulty.transact(nothing_named(), put_and_ring));
  ring_and_hear_another(*this);
  EXPECT_FALSE(is_rung(*bell));
  look([](View& view) { EXPECT_TRUE(view.lease(lease_id(1))); });

  ASSERT_TRUE(faulty.transact(nothing_named(), put_and_ring));
  EXPECT_TRUE(is_rung(*bell, kPatience));
}

}  // namespace
}  // namespace leasehold
