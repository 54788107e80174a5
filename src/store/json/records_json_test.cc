#include "store/json/records_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/print.h"
#include "support/records.h"

namespace leasehold {
namespace {

// UTF-8, with all that means something to somebody.
rc::Gen<std::string> text() {
  const auto piece = rc::gen::weightedOneOf<std::string>(
      {{6,
        rc::gen::map(rc::gen::inRange(0, 128), [](int c) { return std::string(1, static_cast<char>(c)); })},
       {2, rc::gen::element<std::string>("\u00e9", "\u65e5", "\U0001f512", "\u2028", "\ufffd", "\\u0000",
                                         "\"")}});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const auto& pieces) {
    std::string all;
    for (const std::string& one : pieces) all += one;
    return all;
  });
}

rc::Gen<std::optional<Duration>> duration() {
  return rc::gen::map(rc::gen::arbitrary<std::pair<bool, std::int64_t>>(), [](const auto& drawn) {
    return drawn.first ? std::optional(Duration(drawn.second)) : std::nullopt;
  });
}

rc::Gen<std::optional<Process>> process() {
  const auto some = rc::gen::build<Process>(
      rc::gen::set(&Process::machine_id, text()), rc::gen::set(&Process::boot_id, text()),
      rc::gen::set(&Process::pid_namespace), rc::gen::set(&Process::pid), rc::gen::set(&Process::start_time));
  return rc::gen::map(rc::gen::pair(rc::gen::arbitrary<bool>(), some), [](const auto& drawn) {
    return drawn.first ? std::optional(drawn.second) : std::nullopt;
  });
}

rc::Gen<Caller> caller() {
  const auto owner =
      rc::gen::build<Owner>(rc::gen::set(&Owner::agent_id, text()), rc::gen::set(&Owner::session_id, text()));
  const auto holder =
      rc::gen::build<Holder>(rc::gen::set(&Holder::owner, owner), rc::gen::set(&Holder::pr_id, text()),
                             rc::gen::set(&Holder::host, text()), rc::gen::set(&Holder::process, process()));
  return rc::gen::build<Caller>(rc::gen::set(&Caller::holder, holder), rc::gen::set(&Caller::whole_session));
}

rc::Gen<WantedPath> wanted() {
  return rc::gen::build<WantedPath>(
      rc::gen::set(&WantedPath::path, text()), rc::gen::set(&WantedPath::subtree),
      rc::gen::set(&WantedPath::requested),
      rc::gen::set(&WantedPath::paired_with, rc::gen::container<std::vector<std::string>>(text())),
      rc::gen::set(&WantedPath::rule, text()));
}

rc::Gen<AcquireRequest> request() {
  const auto renewals = rc::gen::map(rc::gen::arbitrary<std::pair<bool, int>>(), [](const auto& drawn) {
    return drawn.first ? std::optional(drawn.second) : std::nullopt;
  });
  return rc::gen::build<AcquireRequest>(
      rc::gen::set(&AcquireRequest::caller, caller()),
      rc::gen::set(&AcquireRequest::paths, rc::gen::container<std::vector<WantedPath>>(wanted())),
      rc::gen::set(&AcquireRequest::mode, rc::gen::element(Mode::shared, Mode::exclusive)),
      rc::gen::set(&AcquireRequest::ttl, duration()), rc::gen::set(&AcquireRequest::max_renewals, renewals),
      rc::gen::set(&AcquireRequest::wait, duration()), rc::gen::set(&AcquireRequest::priority),
      rc::gen::set(&AcquireRequest::attended), rc::gen::set(&AcquireRequest::reason, text()),
      rc::gen::set(&AcquireRequest::room, text()), rc::gen::set(&AcquireRequest::trace, text()),
      rc::gen::set(&AcquireRequest::idempotency_key, text()));
}

RC_GTEST_PROP(RecordsJson, ARequestComesBackAsItWas, ()) {
  const AcquireRequest before =
      *rc::gen::scale(0.15, rc::gen::noShrink(request()));  // Large ones take long to draw.

  const std::optional<AcquireRequest> after = request_from_json(to_json(before));

  RC_ASSERT(after.has_value());
  RC_ASSERT(*after == before);
}

RC_GTEST_PROP(RecordsJson, TextsComeBackAsTheyWere, ()) {
  const auto before = *rc::gen::container<std::vector<std::string>>(text());

  RC_ASSERT(texts_from_json(to_json(before)) == before);
}

// Half a record, or one with a letter changed, is a record or nothing; never anything else.
RC_GTEST_PROP(RecordsJson, SpoiledTextIsReadOrRefused, ()) {
  std::string json = to_json(filled_ticket().request);
  const auto at = *rc::gen::inRange<std::size_t>(0, json.size());
  if (*rc::gen::arbitrary<bool>()) {
    json.resize(at);
  } else {
    json[at] = *rc::gen::arbitrary<char>();
  }

  if (const auto read = request_from_json(json)) RC_ASSERT(request_from_json(to_json(*read)) == *read);
}

TEST(RecordsJson, EveryFieldIsCarried) {
  for (const Ticket& ticket : {filled_ticket(), extreme_ticket()}) {
    EXPECT_EQ(request_from_json(to_json(ticket.request)), *ticket.request);
  }
}

TEST(RecordsJson, WhatIsMissingHasItsDefault) {
  EXPECT_EQ(request_from_json("{}"), AcquireRequest());
  EXPECT_EQ(request_from_json(R"({"later": [1, {"than": "us"}]})"), AcquireRequest());
}

TEST(RecordsJson, WhatIsNoRequestIsNothing) {
  for (const char* json :
       {"", "{", "[]", "null", "1", R"({"mode": "purple"})", R"({"mode": 1})", R"({"paths": {}})",
        R"({"paths": [1]})", R"({"ttl_ms": "5"})", R"({"ttl_ms": 1e300})", R"({"ttl_ms": 1.5})",
        R"({"priority": 3000000000})", R"({"holder": []})", R"({"holder": {"process": 7}})",
        R"({"holder": {"process": {"pid_namespace": -1}}})", R"({"attended": "yes"})",
        "{\"reason\": \"\xff\"}", R"({"reason": "a"} trailing)"}) {
    EXPECT_EQ(request_from_json(json), std::nullopt) << json;
  }
}

TEST(RecordsJson, NestingHasAnEnd) {
  EXPECT_EQ(request_from_json(std::string(100'000, '[')), std::nullopt);
  EXPECT_EQ(texts_from_json(std::string(100'000, '[')), std::nullopt);
}

TEST(RecordsJson, WhatIsNoListOfTextsIsNothing) {
  for (const char* json : {"", "{}", "[1]", R"(["a", null])", R"([["a"]])", "["}) {
    EXPECT_EQ(texts_from_json(json), std::nullopt) << json;
  }
  EXPECT_EQ(texts_from_json("[]"), std::vector<std::string>());
}

TEST(RecordsJson, AContentionLeadsBack) {
  EXPECT_EQ(contention_from_json(to_json(filled_contention())), filled_contention());
  EXPECT_EQ(contention_from_json("{\"state\":\"asleep\"}"), std::nullopt);
  EXPECT_EQ(contention_from_json("{\"retry_ns\":\"soon\"}"), std::nullopt);
  EXPECT_EQ(contention_from_json("[]"), std::nullopt);
}

TEST(RecordsJson, APathOfASessionLeadsBackAndFollowsItsSchema) {
  SessionPath path = {.path = "/src", .subtree = true, .mode = Mode::shared};
  path.drop_at = WallTime(std::chrono::microseconds(7));
  EXPECT_EQ(session_path_from_json(to_json(path)), path);
  EXPECT_EQ(session_path_from_json(R"({"path":"/a"})"), SessionPath{.path = "/a"});
  for (const char* odd : {"", "[]", "{}", R"("/a")", R"({"path":1})", R"({"path":"/a","mode":"odd"})",
                          R"({"path":"/a","subtree":1})", R"({"path":"/a","drop_us":"never"})"}) {
    EXPECT_EQ(session_path_from_json(odd), std::nullopt) << odd;
  }
}

}  // namespace
}  // namespace leasehold
