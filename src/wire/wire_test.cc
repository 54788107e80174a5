// What one end writes, the other reads back.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/manual_clock.h"
#include "support/records.h"
#include "wire/answer_json.h"
#include "wire/gate_json.h"
#include "wire/read_answers.h"
#include "wire/request_json.h"

namespace leasehold {
namespace {

namespace json = boost::json;

// The reader's clock counts from 1970: a moment at which the store's does, too.
constexpr Moment kAt = {Time(std::chrono::seconds(1'800'000'000)),
                        WallTime(std::chrono::seconds(1'800'000'000))};

json::value sent(const json::object& document) { return json::parse(json::serialize(document)); }

// What the wire carries of a moment.
Time in_microseconds(Time time) {
  return time == kForever ? time
                          : Time(std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()));
}

Lease as_carried(Lease lease) {
  for (Time* time : {&lease.created_at, &lease.acquired_at, &lease.expires_at, &lease.last_heartbeat_at,
                     &lease.updated_at})
    *time = in_microseconds(*time);
  for (auto* time : {&lease.idle_at, &lease.recalled_at})
    if (*time) *time = in_microseconds(**time);
  return lease;
}

TEST(Wire, CarriesALeaseWhole) {
  const Lease lease = as_carried(filled_lease());

  const auto read = lease_from(sent(lease_json(lease, kAt)));

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, lease);
}

TEST(Wire, CarriesALeaseWithoutEnd) {
  Lease lease = make_lease(1, "/a");
  lease.expires_at = kForever;

  EXPECT_EQ(lease_from(sent(lease_json(lease, kAt))).value().expires_at, kForever);
}

TEST(Wire, CarriesARequestWhole) {
  const AcquireRequest request = filled_ticket().request;

  const auto read = acquire_request_from(sent(request_json(request)));

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, request);
}

TEST(Wire, CarriesAnEventWithItsMomentOnPeoplesClock) {
  Event event = filled_event();
  event.at = Time(event.wall.time_since_epoch());

  const auto read = events_from(sent({{"events", json::array{event_json(event)}}}));

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->at(0), event);
}

TEST(Wire, CarriesADenialWithAllThatWasWanted) {
  Contention contention = filled_contention();
  contention.drop_at = {};  // The store's business.
  for (Time* time : {&contention.first_denied_at, &contention.retry_at, &contention.in_the_way.acquired_at,
                     &contention.in_the_way.last_heartbeat_at, &contention.in_the_way.expires_at})
    *time = in_microseconds(*time);
  if (contention.retried_at) contention.retried_at = in_microseconds(*contention.retried_at);

  const auto read = contention_from(sent(contention_json(contention, kAt, Detail::all)));

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, contention);
}

TEST(Wire, CarriesARefusal) {
  const Refused refused = {.code = Code::rate_limited,
                           .message = "Too often.",
                           .blocked = {},
                           .waited = Duration(7),
                           .retry_after = Duration(9),
                           .more_blocked = 3};

  const auto read = acquire_answer_from(sent(acquire_json({refused, {}}, kAt)));

  ASSERT_TRUE(read) << read.error().message;
  const auto& told = std::get<Refused>(read->decision);
  EXPECT_EQ(told.code, refused.code);
  EXPECT_EQ(told.message, refused.message);
  EXPECT_EQ(told.waited, refused.waited);
  EXPECT_EQ(told.retry_after, refused.retry_after);
  EXPECT_EQ(told.more_blocked, refused.more_blocked);
}

TEST(Wire, CarriesAPlaceInTheQueue) {
  const Queued queued = {.ticket = {"t"}, .position = 4, .more_blocked = 2, .replayed = true};

  const auto read = acquire_answer_from(sent(acquire_json({queued, {}}, kAt)));

  ASSERT_TRUE(read) << read.error().message;
  const auto& told = std::get<Queued>(read->decision);
  EXPECT_EQ(told.ticket, queued.ticket);
  EXPECT_EQ(told.position, queued.position);
  EXPECT_EQ(told.more_blocked, queued.more_blocked);
  EXPECT_TRUE(told.replayed);
}

TEST(Wire, SaysWhichMemberIsWrong) {
  const auto message = [](const char* text) {
    const auto read = acquire_request_from(json::parse(text));
    return read ? "" : read.error().message;
  };

  EXPECT_EQ(message(R"([])"), "The document has to be one JSON object: {...}.");
  EXPECT_EQ(message(R"({"ttl_ms": "5"})"),
            "ttl_ms has to be a whole number from -9223372036854775808 to 9223372036854775807.");
  EXPECT_EQ(message(R"({"mode": "both"})"), "mode has to be exclusive or shared.");
  EXPECT_EQ(message(R"({"pats": []})"), "\"pats\" is not known here.");
  EXPECT_EQ(message(R"({"paths": [{"path": 1}]})"), "paths[].path has to be a text.");
  EXPECT_EQ(message(R"({"paths": [5]})"), "paths[] has to be a text, or an object: {\"path\": ...}.");
  EXPECT_EQ(message(R"({"process": {"pid": 1e99}})"),
            "process.pid has to be a whole number from -9223372036854775808 to 9223372036854775807.");
}

TEST(Wire, ABoardHasAListOfLeases) {
  EXPECT_TRUE(board_from(json::parse(R"({"at": "2026-01-01T00:00:00Z", "leases": []})")));
  EXPECT_FALSE(board_from(json::parse("{}")));
}

}  // namespace
}  // namespace leasehold
