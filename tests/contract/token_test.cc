// Fencing tokens: they only rise. A token counts once it is written, so each is put in a lease.
#include "contract/store_contract.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kTokenLimit = std::uint64_t{1} << 53;

Token grant(Transaction& transaction, int number, const std::string& path = "/a") {
  Lease lease = make_lease(number, path);
  lease.token = transaction.next_token();
  transaction.put(lease);
  return lease.token;
}

std::uint64_t wall_micros(const StoreClock& clock) {
  return static_cast<std::uint64_t>(clock.wall().time_since_epoch().count());
}

TEST_P(StoreContract, TokensRiseFromGrantToGrant) {
  Token last;
  for (int number = 1; number <= 20; ++number) {
    Token token;
    commit([&](Transaction& transaction) { token = grant(transaction, number); });

    EXPECT_GT(token, last);
    EXPECT_LT(token.value, kTokenLimit);
    last = token;
  }
}

TEST_P(StoreContract, TokensDrawnInOneBodyRise) {
  commit([](Transaction& transaction) {
    const Token first = grant(transaction, 1);
    const Token second = grant(transaction, 2);
    const Token third = grant(transaction, 3);
    EXPECT_GT(second, first);
    EXPECT_GT(third, second);
  });
}

TEST_P(StoreContract, TheFirstTokenIsNotBelowTheWallsMicroseconds) {
  Token token;
  commit([&](Transaction& transaction) { token = grant(transaction, 1); });

  EXPECT_GE(token.value, wall_micros(clock));
  EXPECT_LT(token.value, kTokenLimit);
}

TEST_P(StoreContract, TokensRiseWhateverTheWallSays) {
  Token last;
  int number = 0;
  // Before 1970, and after the year 2255, whose microseconds do not fit a token.
  for (const auto step : {-24h * 365 * 200, 24h * 365 * 600, 24h * 365 * 1000, -24h * 365 * 2000}) {
    clock.step_wall(step);
    for (int i = 0; i < 3; ++i) {
      Token token;
      commit([&](Transaction& transaction) { token = grant(transaction, ++number); });

      EXPECT_GT(token, last);
      EXPECT_LT(token.value, kTokenLimit);
      last = token;
    }
  }
}

TEST_P(StoreContract, TokensDoNotFallWhenTheWallStepsBack) {
  Token before;
  commit([&](Transaction& transaction) { before = grant(transaction, 1); });

  clock.step_wall(-1h);

  Token after;
  commit([&](Transaction& transaction) { after = grant(transaction, 2); });
  EXPECT_GT(after, before);
}

TEST_P(StoreContract, TokensRiseWhileTimePasses) {
  Token last;
  for (int number = 1; number <= 5; ++number) {
    Token token;
    commit([&](Transaction& transaction) { token = grant(transaction, number); });
    EXPECT_GT(token, last);
    last = token;
    clock.advance(1s);
  }
}

TEST_P(StoreContract, AnAbortedBodysTokenDoesNotBringBackAnEarlierOne) {
  Token committed;
  commit([&](Transaction& transaction) { committed = grant(transaction, 1); });

  abort([](Transaction& transaction) {
    grant(transaction, 2);
    grant(transaction, 3);
  });

  Token after;
  commit([&](Transaction& transaction) { after = grant(transaction, 4); });
  EXPECT_GT(after, committed);
}

TEST_P(StoreContract, AStoreThatLostItsDataGivesGreaterTokensThanItDid) {
  Token before;
  for (int number = 1; number <= 20; ++number) {
    commit([&](Transaction& transaction) { before = grant(transaction, number); });
  }
  clock.advance(1s);

  const auto fresh_site = GetParam().make(clock);
  const auto fresh = fresh_site->open();
  Token after;
  const auto done = fresh->transact(nothing_named(), [&](Transaction& transaction) -> Result<void> {
    after = grant(transaction, 1);
    return {};
  });

  ASSERT_TRUE(done);
  EXPECT_GT(after, before);
}

TEST_P(StoreContract, TokensRiseAcrossWorkspaces) {
  Token here;
  Token there;
  Token here_again;
  const auto grant_in = [&](const std::string& workspace, int number, Token& token) {
    commit_in(workspace, [&](Transaction& transaction) {
      Lease lease = make_lease(number, "/a");
      lease.workspace = workspace;
      token = lease.token = transaction.next_token();
      transaction.put(lease);
    });
  };

  grant_in(kWorkspace, 1, here);
  grant_in("there", 2, there);
  grant_in(kWorkspace, 3, here_again);

  EXPECT_GT(there, here);
  EXPECT_GT(here_again, there);
}

TEST_P(StoreContract, TokensRiseAcrossHandles) {
  const auto other = open_again();
  Token here;
  Token there;

  commit([&](Transaction& transaction) { here = grant(transaction, 1); });
  const auto done = other->transact(nothing_named(), [&](Transaction& transaction) -> Result<void> {
    there = grant(transaction, 2);
    return {};
  });

  ASSERT_TRUE(done);
  EXPECT_GT(there, here);
}

}  // namespace
}  // namespace leasehold
