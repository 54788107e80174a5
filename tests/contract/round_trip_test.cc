// Every field of every record comes back as it was put.
#include <algorithm>

#include "contract/store_contract.h"

namespace leasehold {
namespace {

// Or a field that a store forgets would come back as it was put: with its default.
template <class Record>
void expect_every_field_set(const Record& filled) {
  const FieldTexts defaults = fields(Record{});
  for (const auto& field : fields(filled)) {
    EXPECT_EQ(std::ranges::count(defaults, field), 0) << field.first << " is " << field.second;
  }
}

TEST(Records, TheFilledOnesHaveEveryFieldSet) {
  expect_every_field_set(filled_lease());
  expect_every_field_set(filled_ticket());
  expect_every_field_set(filled_answer());
  expect_every_field_set(filled_notice());
  Event event = filled_event();
  event.sequence = 1;  // The store's to give.
  expect_every_field_set(event);
}

TEST_P(StoreContract, EveryFieldOfALeaseSurvives) {
  for (const Lease& lease : {filled_lease(), extreme_lease(), make_lease(1, "/a")}) {
    const auto writes = [&](Transaction& transaction) { transaction.put(lease); };

    Footprint footprint = nothing_named();
    footprint.leases = {lease.id};
    expect_reads(writes, footprint, [&](View& view) {
      EXPECT_EQ(view.lease(lease.id), lease);
      EXPECT_EQ(view.last_lease(lease.holder.owner, lease.path), lease);
    });
  }
}

TEST_P(StoreContract, EveryFieldOfAnActiveLeaseSurvivesHoweverItIsFound) {
  for (Lease lease : {filled_lease(), extreme_lease()}) {
    lease.status = Status::active;
    const auto writes = [&](Transaction& transaction) { transaction.put(lease); };

    expect_reads(writes, scope_named(lease.scope()), [&](View& view) {
      EXPECT_EQ(view.leases_at(lease.scope()), std::vector{lease});
      Filter filter;
      filter.pr_id = lease.holder.pr_id;
      EXPECT_EQ(view.leases(filter), std::vector{lease});
    });
  }
}

TEST_P(StoreContract, EveryStatusModeAndCauseOfALeaseSurvives) {
  std::vector<Lease> leases;
  const auto add = [&](const std::function<void(Lease&)>& change) {
    Lease lease = make_lease(static_cast<int>(leases.size()) + 1, "/a");
    change(lease);
    leases.push_back(lease);
  };
  for (const Status status :
       {Status::pending, Status::active, Status::released, Status::expired, Status::failed}) {
    add([&](Lease& lease) { lease.status = status; });
  }
  for (const Mode mode : {Mode::shared, Mode::exclusive}) {
    add([&](Lease& lease) { lease.mode = mode; });
  }
  for (const EndCause cause :
       {EndCause::none, EndCause::released, EndCause::expired, EndCause::silent, EndCause::idle,
        EndCause::owner_dead, EndCause::recalled, EndCause::forced, EndCause::transferred,
        EndCause::timed_out, EndCause::cancelled, EndCause::deadlock, EndCause::merged}) {
    add([&](Lease& lease) { lease.ended_by = cause; });
  }
  add([](Lease& lease) { lease.idle_at = ManualClock::kStart; });
  add([](Lease& lease) { lease.recalled_at = ManualClock::kStart; });
  add([](Lease& lease) { lease.holder.process = Process{}; });

  for (const Lease& lease : leases) {
    commit([&](Transaction& transaction) { transaction.put(lease); });
  }

  look([&](View& view) {
    for (const Lease& lease : leases) EXPECT_EQ(view.lease(lease.id), lease);
  });
}

TEST_P(StoreContract, EveryFieldOfATicketSurvives) {
  for (const Ticket& ticket : {filled_ticket(), extreme_ticket(), make_ticket(1, {"/a"})}) {
    const auto writes = [&](Transaction& transaction) { transaction.put(ticket); };

    Footprint footprint = nothing_named();
    footprint.tickets = {ticket.id};
    expect_reads(writes, footprint, [&](View& view) { EXPECT_EQ(view.ticket(ticket.id), ticket); });
  }
}

TEST_P(StoreContract, EveryFieldOfAPendingTicketSurvivesHoweverItIsFound) {
  for (Ticket ticket : {filled_ticket(), extreme_ticket()}) {
    ticket.status = Status::pending;
    const Scope scope = ticket.request->paths[0].scope();
    const auto put = [&](Transaction& transaction) { transaction.put(ticket); };

    expect_reads(put, scope_named(scope), [&](View& view) {
      EXPECT_EQ(view.tickets_at(scope), std::vector{ticket});
      Filter filter;
      filter.agent_id = ticket.request->caller.holder.owner.agent_id;
      EXPECT_EQ(view.tickets(filter), std::vector{ticket});
    });

    commit([&](Transaction& transaction) {  // Or the extreme one, which asks for the root, finds the other.
      transaction.put(ended(ticket, Status::failed, ManualClock::kStart));
    });
  }
}

TEST_P(StoreContract, ATicketKeepsWhatItsRequestLeftOpen) {
  Ticket ticket = make_ticket(1, {"/a"});
  AcquireRequest& request = ticket.request.own();
  request.ttl = std::nullopt;
  request.max_renewals = std::nullopt;
  request.wait = std::nullopt;
  request.caller.holder.process = std::nullopt;

  commit([&](Transaction& transaction) { transaction.put(ticket); });

  look([&](View& view) { EXPECT_EQ(view.ticket(ticket.id), ticket); });
}

// Copies of a ticket share its request.
TEST_P(StoreContract, WhatIsChangedAfterwardsDoesNotChangeWhatWasPut) {
  const Ticket ticket = make_ticket(1, {"/a"});
  const auto changed = [](Ticket other) {
    other.request.own().priority = 9;
    return other;
  };
  commit([&](Transaction& transaction) {
    Ticket own = ticket;
    transaction.put(own);
    own = changed(std::move(own));
    EXPECT_EQ(transaction.ticket(ticket.id), ticket);
  });

  abort([&](Transaction& transaction) { transaction.put(changed(*transaction.ticket(ticket.id))); });

  look([&](View& view) {
    EXPECT_NE(changed(*view.ticket(ticket.id)), ticket);
    EXPECT_EQ(view.ticket(ticket.id), ticket);
    EXPECT_EQ(view.tickets_at({"/a", false}), std::vector{ticket});
  });
}

TEST_P(StoreContract, EveryFieldOfAnAnswerSurvives) {
  for (const Answer& answer : {filled_answer(), extreme_answer(), make_answer("", {})}) {
    const auto writes = [&](Transaction& transaction) { transaction.put(answer); };

    expect_reads(writes, owner_named(answer.owner),
                 [&](View& view) { EXPECT_EQ(view.answer(answer.owner, answer.key), answer); });
  }
}

TEST_P(StoreContract, EveryFieldOfANoticeSurvives) {
  for (const Notice& notice : {filled_notice(), extreme_notice()}) {
    const auto writes = [&](Transaction& transaction) { transaction.put(notice); };

    expect_reads(writes, owner_named(notice.owner),
                 [&](View& view) { EXPECT_EQ(view.notices(notice.owner), std::vector{notice}); });
  }
}

TEST_P(StoreContract, EveryFieldOfAnEventSurvives) {
  for (const EventType type :
       {EventType::queued, EventType::acquired, EventType::renewed, EventType::upgraded,
        EventType::downgraded, EventType::recalled, EventType::released, EventType::expired,
        EventType::failed, EventType::contended, EventType::halted, EventType::instructed}) {
    for (Event event : {filled_event(), extreme_event()}) {
      event.type = type;
      commit([&](Transaction& transaction) { transaction.append(event); });

      look([&](View& view) {
        HistoryQuery newest;
        newest.limit = 1;
        auto events = view.history(newest);
        ASSERT_EQ(events.size(), 1u);
        events[0].sequence = event.sequence;
        EXPECT_EQ(events[0], event);
      });
    }
  }
}

}  // namespace
}  // namespace leasehold
