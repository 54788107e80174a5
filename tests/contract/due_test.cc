// What may have lapsed.
#include "contract/store_contract.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow = ManualClock::kStart;

Lease lease_until(int number, Time expires_at, std::optional<Time> idle_at = {},
                  std::optional<Time> recalled_at = {}) {
  Lease lease = make_lease(number, "/" + std::to_string(number));
  lease.expires_at = expires_at;
  lease.idle_at = idle_at;
  lease.recalled_at = recalled_at;
  return lease;
}

Ticket ticket_until(int number, Time wait_until, Time proven_until) {
  Ticket ticket = make_ticket(number, {"/" + std::to_string(number)});
  ticket.wait_until = wait_until;
  ticket.proven_until = proven_until;
  return ticket;
}

std::vector<LeaseId> leases_in_order(const Due& due) {
  std::vector<LeaseId> found;
  for (const Lease& lease : due.leases) found.push_back(lease.id);
  return found;
}

std::vector<GroupId> tickets_in_order(const Due& due) {
  std::vector<GroupId> found;
  for (const Ticket& ticket : due.tickets) found.push_back(ticket.id);
  return found;
}

TEST_P(StoreContract, ALeaseIsDueFromTheFirstOfItsMomentsOn) {
  const auto writes = [](Transaction& transaction) {
    transaction.put(lease_until(1, kNow + 1s));
    transaction.put(lease_until(2, kNow + 9s, kNow + 2s));
    transaction.put(lease_until(3, kNow + 9s, {}, kNow + 3s));
    transaction.put(lease_until(4, kNow + 9s, kNow + 5s, kNow + 4s));
    transaction.put(lease_until(5, kForever));
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    EXPECT_TRUE(view.due(kNow + 1s - 1ns, 10).leases.empty());
    EXPECT_EQ(leases_in_order(view.due(kNow + 1s, 10)), lease_ids({1}));
    EXPECT_EQ(leases_in_order(view.due(kNow + 2s, 10)), lease_ids({1, 2}));
    EXPECT_EQ(leases_in_order(view.due(kNow + 3s, 10)), lease_ids({1, 2, 3}));
    EXPECT_EQ(leases_in_order(view.due(kNow + 4s, 10)), lease_ids({1, 2, 3, 4}));
    EXPECT_EQ(leases_in_order(view.due(kForever - 1ns, 10)), lease_ids({1, 2, 3, 4}));
  });
}

TEST_P(StoreContract, ATicketIsDueFromTheFirstOfItsMomentsOn) {
  const auto writes = [](Transaction& transaction) {
    transaction.put(ticket_until(1, kNow + 1s, kNow + 9s));
    transaction.put(ticket_until(2, kNow + 9s, kNow + 2s));
    transaction.put(ticket_until(3, kForever, kForever));
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    EXPECT_TRUE(view.due(kNow + 1s - 1ns, 10).tickets.empty());
    EXPECT_EQ(tickets_in_order(view.due(kNow + 1s, 10)), group_ids({1}));
    EXPECT_EQ(tickets_in_order(view.due(kNow + 2s, 10)), group_ids({1, 2}));
    EXPECT_EQ(tickets_in_order(view.due(kForever - 1ns, 10)), group_ids({1, 2}));
  });
}

TEST_P(StoreContract, WhatIsDueComesEarliestFirstAndAtMostSoMany) {
  const auto writes = [](Transaction& transaction) {
    for (const int number : {3, 5, 1, 2, 4}) {
      const Time moment = kNow + std::chrono::seconds(10 - number);  // The greater the id, the earlier.
      transaction.put(lease_until(number, moment));
      transaction.put(ticket_until(number, moment, kForever));
    }
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    EXPECT_EQ(leases_in_order(view.due(kNow + 10s, 10)), lease_ids({5, 4, 3, 2, 1}));
    EXPECT_EQ(tickets_in_order(view.due(kNow + 10s, 10)), group_ids({5, 4, 3, 2, 1}));
    EXPECT_EQ(leases_in_order(view.due(kNow + 10s, 2)), lease_ids({5, 4}));
    EXPECT_EQ(tickets_in_order(view.due(kNow + 10s, 2)), group_ids({5, 4}));
    EXPECT_EQ(leases_in_order(view.due(kNow + 6s, 3)), lease_ids({5, 4}));
  });
}

TEST_P(StoreContract, ADeadlineThatMovesOnIsNotDueAtTheOldOne) {
  commit([&](Transaction& transaction) {
    transaction.put(lease_until(1, kNow + 1s, kNow + 1s));
    transaction.put(ticket_until(1, kNow + 9s, kNow + 1s));
  });

  const auto writes = [](Transaction& transaction) {
    transaction.put(lease_until(1, kNow + 2s));
    transaction.put(ticket_until(1, kNow + 9s, kNow + 2s));
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    EXPECT_TRUE(view.due(kNow + 1s, 10).leases.empty());
    EXPECT_TRUE(view.due(kNow + 1s, 10).tickets.empty());
    EXPECT_EQ(leases_in_order(view.due(kNow + 2s, 10)), lease_ids({1}));
    EXPECT_EQ(tickets_in_order(view.due(kNow + 2s, 10)), group_ids({1}));
  });
}

TEST_P(StoreContract, WhatIsDueIsOnlyAPlaceToLook) {
  commit([&](Transaction& transaction) { transaction.put(lease_until(1, kNow + 1s)); });

  clock.advance(1h);

  look([](View& view) {
    EXPECT_EQ(ids(view.leases_at({"/1", false})), lease_ids({1}));
    EXPECT_EQ(view.lease(lease_id(1)).value().status, Status::active);
    EXPECT_EQ(view.lease_count(ann()), 1u);
  });
}

}  // namespace
}  // namespace leasehold
