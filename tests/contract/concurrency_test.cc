// Bodies that run at the same time, each thread on a handle of its own. What they leave must be what
// they would have left one after the other, and nobody may see a part of one.
#include <array>
#include <atomic>
#include <barrier>
#include <map>

#include "contract/store_contract.h"

namespace leasehold {
namespace {

constexpr int kThreads = 3;
constexpr int kRounds = 15;

std::string path_of(int round) { return "/round/" + std::to_string(round); }

// Differs for each contestant of each round.
int number_of(int round, int contestant) { return round * kThreads + contestant + 1; }

TEST_P(StoreContract, ANoticeIsTakenByOneOnly) {
  commit([&](Transaction& transaction) {
    for (int number = 0; number < kRounds; ++number) {
      transaction.put(make_notice(number, make_lease(number, "/a")));
    }
  });
  std::atomic<int> taken = 0;

  run_threads(*this, kThreads, [&](int, Store& handle) {
    bool none_left = false;
    const Store::Body take = [&](Transaction& transaction) -> Result<void> {
      const auto notices = transaction.notices(ann());
      none_left = notices.empty();
      if (!none_left) transaction.erase(notices.front());
      return {};
    };
    while (!none_left) {
      ASSERT_TRUE(transact_patiently(handle, owner_named(ann()), take));
      if (!none_left) ++taken;
    }
  });

  EXPECT_EQ(taken.load(), kRounds);
}

TEST_P(StoreContract, NoUpdateIsLost) {
  constexpr int kIncrements = 25;
  const Store::Body increment = [](Transaction& transaction) -> Result<void> {
    auto lease = transaction.lease(lease_id(1));
    if (!lease) return fail(Code::not_found, "the counter is gone");
    ++lease->renewal_count;
    transaction.put(*lease);
    return {};
  };
  Footprint counter_named = nothing_named();
  counter_named.leases = {lease_id(1)};

  for (const Footprint& footprint : {counter_named, nothing_named()}) {
    commit([&](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });

    run_threads(*this, kThreads, [&](int, Store& handle) {
      for (int i = 0; i < kIncrements; ++i) ASSERT_TRUE(transact_patiently(handle, footprint, increment));
    });

    look(
        [](View& view) { EXPECT_EQ(view.lease(lease_id(1)).value().renewal_count, kThreads * kIncrements); });
  }
}

TEST_P(StoreContract, EveryCommitLeavesItsEventAndItsOwnTokenAndSequence) {
  run_threads(*this, kThreads, [&](int thread, Store& handle) {
    Lease lease = make_lease(0, "/" + std::to_string(thread));
    const Store::Body grant = [&](Transaction& transaction) -> Result<void> {
      lease.token = transaction.next_token();
      transaction.put(lease);
      transaction.append(make_event(lease));
      return {};
    };
    for (int round = 0; round < kRounds; ++round) {
      lease.id = lease_id(number_of(round, thread));
      ASSERT_TRUE(transact_patiently(handle, scope_named(lease.scope()), grant));
    }
  });

  look([](View& view) {
    const auto events = view.history({});
    EXPECT_EQ(events.size(), static_cast<std::size_t>(kThreads * kRounds));
    std::uint64_t last_sequence = 0;
    std::map<std::string, Token> last_token;  // By path.
    for (const Event& event : events) {
      EXPECT_GT(event.sequence, last_sequence);
      EXPECT_GT(event.token, last_token[event.path]);
      last_sequence = event.sequence;
      last_token[event.path] = event.token;
    }
  });
}

// Each reads what the other writes, and neither names it in its footprint.
TEST_P(StoreContract, TwoWhoLookAtEachOthersPathDoNotBothGoAhead) {
  std::vector<std::atomic<int>> went_ahead(2 * kRounds);
  std::barrier start(2);

  run_threads(*this, 2, [&](int thread, Store& handle) {
    for (int round = 0; round < 2 * kRounds; ++round) {
      const std::string own = path_of(round) + '/' + std::to_string(thread);
      const std::string others = path_of(round) + '/' + std::to_string(1 - thread);
      bool goes_ahead = false;
      start.arrive_and_wait();
      EXPECT_TRUE(transact_patiently(handle, scope_named({own, false}), [&](Transaction& transaction) {
        goes_ahead = transaction.leases_at({others, false}).empty();
        if (goes_ahead) transaction.put(make_lease(number_of(round, thread), own));
        return Result<void>();
      }));
      if (goes_ahead) ++went_ahead[static_cast<std::size_t>(round)];
    }
  });

  for (const auto& count : went_ahead) EXPECT_EQ(count.load(), 1);
}

// Or the waiter would never be woken.
TEST_P(StoreContract, WhoeverReleasesSeesWhoBeganToWait) {
  for (int round = 0; round < kRounds; ++round) {
    commit([&](Transaction& transaction) { transaction.put(make_lease(round, path_of(round))); });
  }
  std::array<bool, kRounds> waits{};
  std::array<bool, kRounds> waiter_seen{};
  std::barrier start(2);

  run_threads(*this, 2, [&](int thread, Store& handle) {
    for (int round = 0; round < kRounds; ++round) {
      const auto place = static_cast<std::size_t>(round);
      const Lease held = make_lease(round, path_of(round));
      const Store::Body wait = [&](Transaction& transaction) -> Result<void> {
        waits[place] = !transaction.leases_at(held.scope()).empty();
        if (waits[place]) transaction.put(make_ticket(round, {held.path}));
        return {};
      };
      const Store::Body release = [&](Transaction& transaction) -> Result<void> {
        transaction.put(ended(held, Status::released, transaction.now()));
        waiter_seen[place] = !transaction.tickets_at(held.scope()).empty();
        return {};
      };
      start.arrive_and_wait();
      EXPECT_TRUE(transact_patiently(handle, scope_named(held.scope()), thread == 0 ? wait : release));
    }
  });

  EXPECT_EQ(waits, waiter_seen);
}

// Leases 1 and 2, ticket 1 and history are always changed together.
void change_together(Transaction& transaction, int count) {
  for (const int number : {1, 2}) {
    Lease lease = make_lease(number, number == 1 ? "/a/1" : "/b/2");
    lease.renewal_count = count;
    transaction.put(lease);
  }
  Ticket ticket = make_ticket(1, {"/c"});
  ticket.request.own().priority = count;
  transaction.put(ticket);
  transaction.append(make_event(make_lease(1, "/a/1")));
}

// The count of each of them, by different ways to find it.
std::vector<int> counts(View& view) {
  const auto count_at = [&](const Scope& scope) {
    const auto found = view.leases_at(scope);
    return found.empty() ? -1 : found[0].renewal_count;
  };
  const auto first = view.lease(lease_id(1));
  const auto ticket = view.ticket(group_id(1));
  const auto waiting = view.tickets_at({"/", true});
  return {
      first ? first->renewal_count : -1,
      count_at({"/b", true}),
      ticket ? ticket->request->priority : -1,
      count_at({"/a/1", false}),
      waiting.empty() ? -1 : waiting[0].request->priority,
  };
}

void expect_all_equal(const std::vector<int>& counts) {
  EXPECT_EQ(counts, std::vector<int>(counts.size(), counts.front()));
}

TEST_P(StoreContract, AViewSeesAllOfATransactionOrNothing) {
  commit([](Transaction& transaction) { change_together(transaction, 1); });
  std::atomic<bool> written = false;
  const auto write = [&](Store& handle) {
    for (int count = 2; count <= 50; ++count) {
      EXPECT_TRUE(transact_patiently(handle, nothing_named(), [&](Transaction& transaction) {
        change_together(transaction, count);
        return Result<void>();
      }));
    }
    written = true;
  };
  const auto read = [&](Store& handle, const Footprint& footprint) {
    bool last_look = false;
    while (!last_look) {
      last_look = written;
      std::vector<int> seen;
      ASSERT_TRUE(handle.view(footprint, [&](View& view) {
        seen = counts(view);
        seen.push_back(static_cast<int>(view.history({}).size()));
        return Result<void>();
      }));
      expect_all_equal(seen);
    }
  };

  run_threads(*this, 3, [&](int thread, Store& handle) {
    if (thread == 0) write(handle);
    if (thread == 1) read(handle, nothing_named());
    if (thread == 2) read(handle, scope_named({"/a", true}));
  });
}

TEST_P(StoreContract, ABodySeesAllOfAnotherOrNothingEvenOutsideItsFootprint) {
  commit([](Transaction& transaction) { change_together(transaction, 1); });
  const Store::Body change = [](Transaction& transaction) -> Result<void> {
    // In every run, also in one that a conflict throws away: the engine relies on what it reads.
    const auto seen = counts(transaction);
    expect_all_equal(seen);
    change_together(transaction, seen.front() + 1);
    return {};
  };

  run_threads(*this, kThreads, [&](int thread, Store& handle) {
    const Footprint footprint = thread == 0 ? nothing_named() : scope_named({"/a", true});
    for (int round = 0; round < 2 * kRounds; ++round) {
      ASSERT_TRUE(transact_patiently(handle, footprint, change));
    }
  });

  look([](View& view) { EXPECT_EQ(counts(view).front(), 1 + kThreads * 2 * kRounds); });
}

}  // namespace
}  // namespace leasehold
