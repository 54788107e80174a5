// Several look whether something is there, all at once, and add it if not. One of them must be first.
#include <atomic>
#include <barrier>

#include "contract/store_contract.h"

namespace leasehold {
namespace {

constexpr int kContestants = 3;
constexpr int kRounds = 15;

// One contestant's part in one round.
struct Turn {
  int contestant;
  int round;
  int number;        // Nobody else's in any round.
  std::string path;  // These are the same for all of a round.
  Owner owner;
};

struct Contest {
  std::function<Footprint(const Turn&)> footprint;
  std::function<bool(View&, const Turn&)> taken;
  std::function<void(Transaction&, const Turn&)> take;
};

Turn turn_of(int contestant, int round) {
  return {.contestant = contestant,
          .round = round,
          .number = round * kContestants + contestant + 1,
          .path = "/round/" + std::to_string(round),
          .owner = {"agent-" + std::to_string(round), "session"}};
}

// All begin each round at the same time. Whoever finds it taken lets it be, so one must win, within
// the footprint or, with another set of rounds, outside.
void expect_one_winner(StoreContract& test, const Contest& contest) {
  for (const bool within : {true, false}) {
    SCOPED_TRACE(within ? "within the footprint" : "outside the footprint");
    std::vector<std::atomic<int>> winners(kRounds);
    std::barrier start(kContestants);

    run_threads(test, kContestants, [&](int contestant, Store& handle) {
      for (int round = 0; round < kRounds; ++round) {
        const Turn turn = turn_of(contestant, within ? round : kRounds + round);
        const Footprint footprint = within ? contest.footprint(turn) : nothing_named();
        bool won = false;
        start.arrive_and_wait();
        EXPECT_TRUE(transact_patiently(handle, footprint, [&](Transaction& transaction) -> Result<void> {
          won = !contest.taken(transaction, turn);
          if (won) contest.take(transaction, turn);
          return {};
        }));
        if (won) ++winners[static_cast<std::size_t>(round)];
      }
    });

    for (const auto& count : winners) EXPECT_EQ(count.load(), 1);
  }
}

Footprint turns_scope(const Turn& turn) { return scope_named({turn.path, true}); }
Footprint turns_owner(const Turn& turn) { return owner_named(turn.owner); }

Footprint turns_ids(const Turn& turn) {
  Footprint footprint = nothing_named();
  footprint.leases = {lease_id(turn.round)};
  footprint.tickets = {group_id(turn.round)};
  return footprint;
}

Filter turns_agent(const Turn& turn) {
  Filter filter;
  filter.agent_id = turn.owner.agent_id;
  return filter;
}

// Somewhere else for each contestant of each round.
std::string own_path(const Turn& turn) { return "/own/" + std::to_string(turn.number); }

TEST_P(StoreContract, OneOfThoseWhoFindAPathFreeGetsIt) {
  const auto taken = [](View& view, const Turn& turn) { return !view.leases_at({turn.path, false}).empty(); };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    transaction.put(make_lease(turn.number, turn.path));
  };
  expect_one_winner(*this, {turns_scope, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoWantADirectoryOrAFileInItGetsIt) {
  const auto wanted = [](const Turn& turn) -> Scope {
    if (turn.contestant == 0) return {turn.path, true};
    return {turn.path + "/deep/file", false};
  };
  const auto taken = [&](View& view, const Turn& turn) { return !view.leases_at(wanted(turn)).empty(); };
  const auto take = [&](Transaction& transaction, const Turn& turn) {
    Lease lease = make_lease(turn.number, wanted(turn).path);
    lease.subtree = wanted(turn).subtree;
    transaction.put(lease);
  };
  expect_one_winner(*this, {turns_scope, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoFindNobodyWaitingIsTheFirstToWait) {
  const auto taken = [](View& view, const Turn& turn) { return !view.tickets_at({turn.path, true}).empty(); };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    const std::string file = turn.path + '/' + std::to_string(turn.contestant);
    transaction.put(make_ticket(turn.number, {"/elsewhere", file}));
  };
  expect_one_winner(*this, {turns_scope, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoFindALeasesIdFreeUsesIt) {
  const auto taken = [](View& view, const Turn& turn) {
    return view.lease(lease_id(turn.round)).has_value();
  };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    transaction.put(make_lease(turn.round, own_path(turn)));
  };
  expect_one_winner(*this, {turns_ids, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoFindATicketsIdFreeUsesIt) {
  const auto taken = [](View& view, const Turn& turn) {
    return view.ticket(group_id(turn.round)).has_value();
  };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    transaction.put(make_ticket(turn.round, {own_path(turn)}));
  };
  expect_one_winner(*this, {turns_ids, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoFindNoLastLeaseMakesIt) {
  const auto taken = [](View& view, const Turn& turn) {
    return view.last_lease(turn.owner, turn.path).has_value();
  };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    const Lease lease = make_lease(turn.number, turn.path, turn.owner);
    transaction.put(ended(lease, Status::released, transaction.now()));
  };
  expect_one_winner(*this, {turns_owner, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoCountNoLeaseOfAnOwnerGivesItOne) {
  const auto taken = [](View& view, const Turn& turn) { return view.lease_count(turn.owner) > 0; };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    transaction.put(make_lease(turn.number, own_path(turn), turn.owner));
  };
  expect_one_winner(*this, {turns_owner, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoFindNoLeaseOfAnAgentGivesItOne) {
  const auto taken = [](View& view, const Turn& turn) { return !view.leases(turns_agent(turn)).empty(); };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    transaction.put(make_lease(turn.number, own_path(turn), turn.owner));
  };
  expect_one_winner(*this, {turns_owner, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoFindNoTicketOfAnAgentGivesItOne) {
  const auto taken = [](View& view, const Turn& turn) { return !view.tickets(turns_agent(turn)).empty(); };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    transaction.put(make_ticket(turn.number, {own_path(turn)}, turn.owner));
  };
  expect_one_winner(*this, {turns_owner, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoFindNoNoticeLeavesOne) {
  const auto taken = [](View& view, const Turn& turn) { return !view.notices(turn.owner).empty(); };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    transaction.put(make_notice(turn.number, make_lease(turn.number, "/a", turn.owner)));
  };
  expect_one_winner(*this, {turns_owner, taken, take});
}

TEST_P(StoreContract, OneOfThoseWhoFindNoAnswerUnderAKeyGivesIt) {
  const auto taken = [](View& view, const Turn& turn) { return view.answer(turn.owner, "key").has_value(); };
  const auto take = [](Transaction& transaction, const Turn& turn) {
    transaction.put(make_answer("key", {make_lease(turn.number, "/a", turn.owner)}));
  };
  expect_one_winner(*this, {turns_owner, taken, take});
}

}  // namespace
}  // namespace leasehold
