#include "store/json/stored_records.h"

#include <gtest/gtest.h>

#include "support/records.h"

namespace leasehold {
namespace {

template <class Record>
void expect_round_trip(const Record& record) {
  const auto back = record_from_json<Record>(to_json(record));
  ASSERT_TRUE(back) << to_json(record);
  EXPECT_EQ(*back, record);
}

Event without_sequence(Event event) {
  event.sequence = 0;
  return event;
}

TEST(StoredRecords, EveryFieldComesBack) {
  expect_round_trip(filled_lease());
  expect_round_trip(filled_ticket());
  expect_round_trip(filled_answer());
  expect_round_trip(filled_notice());
  expect_round_trip(without_sequence(filled_event()));
}

TEST(StoredRecords, TheEndsOfWhatFieldsCanBeComeBack) {
  expect_round_trip(extreme_lease());
  expect_round_trip(extreme_ticket());
  expect_round_trip(extreme_answer());
  expect_round_trip(extreme_notice());
  expect_round_trip(without_sequence(extreme_event()));
}

TEST(StoredRecords, HowATicketEndedIsAddedToWhatItWas) {
  const Ticket ended = filled_ticket();
  Ticket ticket = ended;
  ticket.status = Status::pending;
  ticket.ended_by = EndCause::none;
  ticket.ended_at = {};
  ticket.leases = {lease_id(7)};
  ticket.token = {};

  EXPECT_TRUE(add_end(end_to_json(ended), ticket));

  EXPECT_EQ(ticket, ended);
  for (const char* text : {"", "x", "[]", "7", R"({"status":"elsewhere"})"})
    EXPECT_FALSE(add_end(text, ticket)) << text;
}

TEST(StoredRecords, ADocumentShowsItsFirstHolderToOthersAndKeepsAll) {
  Lease first = make_lease(1, "/a");
  first.holder.pr_id = "7";
  const Lease second = make_lease(2, "/a", bob());

  const std::string document = path_document(first, {to_json(first), to_json(second)});

  EXPECT_TRUE(document.starts_with(R"({"agentId":")" + ann().agent_id + R"(","prId":"7","timestamp":)"))
      << document;
  EXPECT_EQ(leases_from_document(document), (std::vector{first, second}));
}

TEST(StoredRecords, WhatIsNotARecordIsNothing) {
  for (const char* text : {"", "x", "null", "[]", "{}", "7", R"({"id":7,"path":"/a"})",
                           R"({"id":"1","path":"/a","mode":"sideways"})", R"({"id":"1","path":"/a"}})"}) {
    EXPECT_FALSE(record_from_json<Lease>(text)) << text;
    EXPECT_FALSE(leases_from_document(text)) << text;
  }
}

}  // namespace
}  // namespace leasehold
