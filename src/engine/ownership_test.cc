// DESIGN section 3, rule 9, as one table: what a caller is answered about a lease it names, for every
// relation it can have to it, every state it can be in and every token that can be given.
#include "engine/ownership.h"

#include <gtest/gtest.h>

#include "support/small_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

enum class State { live, lapsed, released, expired, failed, transferred, pending };
enum class Given { nothing, equal, older, newer };
enum class Whose { own, session_mates, strangers };

constexpr State kStates[] = {State::live,   State::lapsed,      State::released, State::expired,
                             State::failed, State::transferred, State::pending};
constexpr Given kGiven[] = {Given::nothing, Given::equal, Given::older, Given::newer};
constexpr Whose kWhose[] = {Whose::own, Whose::session_mates, Whose::strangers};

// "done", "already", "current", or the name of a code.
struct Answers {
  Standing standing;
  std::string_view release;
  std::string_view renew;
  std::string_view check;
};

struct OwnRow {
  State state;
  Given token;
  Answers answers;
};

const OwnRow kOwn[] = {
    {State::live, Given::nothing, {Standing::own_live, "done", "done", "stale_token"}},
    {State::live, Given::equal, {Standing::own_live, "done", "done", "current"}},
    {State::live, Given::older, {Standing::stale_token, "stale_token", "stale_token", "stale_token"}},
    {State::live, Given::newer, {Standing::stale_token, "stale_token", "stale_token", "stale_token"}},

    {State::lapsed, Given::nothing, {Standing::own_ended, "already", "lost", "not_found"}},
    {State::lapsed, Given::equal, {Standing::own_ended, "already", "lost", "lost"}},
    {State::lapsed, Given::older, {Standing::own_ended, "already", "lost", "not_found"}},
    {State::lapsed, Given::newer, {Standing::own_ended, "already", "lost", "not_found"}},

    {State::released, Given::nothing, {Standing::own_ended, "already", "lost", "not_found"}},
    {State::released, Given::equal, {Standing::own_ended, "already", "lost", "lost"}},
    {State::released, Given::older, {Standing::own_ended, "already", "lost", "not_found"}},
    {State::released, Given::newer, {Standing::own_ended, "already", "lost", "not_found"}},

    {State::expired, Given::nothing, {Standing::own_ended, "already", "lost", "not_found"}},
    {State::expired, Given::equal, {Standing::own_ended, "already", "lost", "lost"}},
    {State::expired, Given::older, {Standing::own_ended, "already", "lost", "not_found"}},
    {State::expired, Given::newer, {Standing::own_ended, "already", "lost", "not_found"}},

    // It was waited for in vain: there never was anything to lose.
    {State::failed, Given::nothing, {Standing::own_failed, "already", "not_found", "not_found"}},
    {State::failed, Given::equal, {Standing::own_failed, "already", "not_found", "not_found"}},
    {State::failed, Given::older, {Standing::own_failed, "already", "not_found", "not_found"}},
    {State::failed, Given::newer, {Standing::own_failed, "already", "not_found", "not_found"}},

    {State::transferred, Given::nothing, {Standing::transferred, "already", "transferred", "not_found"}},
    {State::transferred, Given::equal, {Standing::transferred, "already", "transferred", "transferred"}},
    {State::transferred, Given::older, {Standing::transferred, "already", "transferred", "not_found"}},
    {State::transferred, Given::newer, {Standing::transferred, "already", "transferred", "not_found"}},

    // It is waited for. Giving that up is a release; there is nothing to renew or to write under yet.
    {State::pending, Given::nothing, {Standing::own_pending, "done", "not_found", "not_found"}},
    {State::pending, Given::equal, {Standing::own_pending, "done", "not_found", "not_found"}},
    {State::pending, Given::older, {Standing::own_pending, "done", "not_found", "not_found"}},
    {State::pending, Given::newer, {Standing::own_pending, "done", "not_found", "not_found"}},
};

// A check asks about the path and the token: who asks matters only for why it is not current.
std::string_view check_of_anothers(State state, Given token) {
  if (state != State::live) return "not_found";
  return token == Given::equal ? "current" : "stale_token";
}

Answers expected(Whose whose, bool whole_session, State state, Given token) {
  const bool counts_as_own = whose == Whose::own || (whose == Whose::session_mates && whole_session);
  if (!counts_as_own) return {Standing::not_owner, "not_owner", "not_owner", check_of_anothers(state, token)};
  for (const OwnRow& row : kOwn) {
    if (row.state == state && row.token == token) return row.answers;
  }
  ADD_FAILURE() << "the table has a hole";
  return {};
}

std::string_view name(State state) {
  constexpr std::string_view kNames[] = {"live",   "lapsed",      "released", "expired",
                                         "failed", "transferred", "pending"};
  return kNames[static_cast<std::size_t>(state)];
}

struct Case {
  Whose whose;
  bool whole_session;
  State state;
  Given token;

  Caller who() const {
    Caller self = caller(ann());
    self.whole_session = whole_session;
    return self;
  }

  Lease lease() const {
    const Owner owner = whose == Whose::own             ? ann()
                        : whose == Whose::session_mates ? Owner{"sub", ann().session_id}
                                                        : bob();
    Lease lease = make_lease(1, "/src/a.h", owner);
    switch (state) {
      case State::live:
        break;
      case State::lapsed:
        lease.expires_at = ManualClock::kStart;
        break;
      case State::released:
        lease.status = Status::released;
        lease.ended_by = EndCause::released;
        break;
      case State::expired:
        lease.status = Status::expired;
        lease.ended_by = EndCause::expired;
        break;
      case State::failed:
        lease.status = Status::failed;
        lease.ended_by = EndCause::timed_out;
        break;
      case State::transferred:
        lease.status = Status::released;
        lease.ended_by = EndCause::transferred;
        break;
      case State::pending:
        lease.status = Status::pending;
        break;
    }
    return lease;
  }

  std::optional<Token> given() const {
    const std::uint64_t current = lease().token.value;
    switch (token) {
      case Given::nothing:
        return std::nullopt;
      case Given::equal:
        return Token{current};
      case Given::older:
        return Token{current - 1};
      case Given::newer:
        return Token{current + 1};
    }
    return std::nullopt;
  }

  std::string text() const {
    constexpr std::string_view kWhoseNames[] = {"own", "session mate's", "stranger's"};
    constexpr std::string_view kTokenNames[] = {"no token", "its token", "an older token", "a newer token"};
    return std::string(kWhoseNames[static_cast<std::size_t>(whose)]) + ", " + std::string(name(state)) +
           ", " + std::string(kTokenNames[static_cast<std::size_t>(token)]) +
           (whole_session ? ", for the whole session" : "");
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Whose whose : kWhose) {
    for (const bool whole_session : {false, true}) {
      for (const State state : kStates) {
        for (const Given token : kGiven) cases.push_back({whose, whole_session, state, token});
      }
    }
  }
  return cases;
}

// A world in which the case's lease is all there is.
void put(SmallWorld& world, const Case& one) {
  const auto done =
      world.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
        const Lease lease = one.lease();
        transaction.put(lease);
        if (lease.status == Status::pending) {
          Ticket ticket = make_ticket(1, {lease.path}, lease.holder.owner);
          ticket.id = lease.group_id;
          ticket.leases = {lease.id};
          transaction.put(ticket);
        }
        return {};
      });
  ASSERT_TRUE(done);
}

std::string_view text_of(const Result<Outcomes>& answer) {
  if (!answer) return info(answer.error().code).name;
  if (answer->outcomes.size() != 1) return "not one outcome";
  const Outcome& outcome = answer->outcomes.front();
  if (outcome.error) return info(outcome.error->code).name;
  return outcome.already ? "already" : "done";
}

TEST(Standing, IsAsTheTableSays) {
  for (const Case& one : all_cases()) {
    const EndCause lapsed = one.state == State::lapsed ? EndCause::expired : EndCause::none;

    const Standing found = standing(one.who(), one.lease(), lapsed, one.given());

    EXPECT_EQ(found, expected(one.whose, one.whole_session, one.state, one.token).standing) << one.text();
  }
}

TEST(Standing, OfALeaseThatNeverWasIsNotFound) {
  for (const bool whole_session : {false, true}) {
    for (const std::optional<Token> token : {std::optional<Token>(), std::optional(Token{7})}) {
      Caller self = caller(ann());
      self.whole_session = whole_session;
      EXPECT_EQ(standing(self, std::nullopt, EndCause::none, token), Standing::not_found);
    }
  }
}

TEST(Release, AnswersAsTheTableSays) {
  for (const Case& one : all_cases()) {
    SmallWorld world;
    put(world, one);

    ReleaseRequest request = {.caller = one.who(), .token = one.given()};
    request.which.ids = {lease_id(1)};
    const auto answer = world.manager.release(request);

    EXPECT_EQ(text_of(answer), expected(one.whose, one.whole_session, one.state, one.token).release)
        << one.text();
  }
}

TEST(Renew, AnswersAsTheTableSays) {
  for (const Case& one : all_cases()) {
    SmallWorld world;
    put(world, one);

    RenewRequest request = {.caller = one.who(), .token = one.given()};
    request.which.ids = {lease_id(1)};
    const auto answer = world.manager.renew(request);

    EXPECT_EQ(text_of(answer), expected(one.whose, one.whole_session, one.state, one.token).renew)
        << one.text();
  }
}

TEST(Check, AnswersAsTheTableSays) {
  for (const Case& one : all_cases()) {
    SmallWorld world;
    put(world, one);

    const auto answer = world.manager.check(one.who(), "/src/a.h", one.given().value_or(Token{}));

    ASSERT_TRUE(answer) << one.text();
    const std::string_view text = answer->current ? "current" : info(answer->error->code).name;
    const bool is_own = one.whose == Whose::own || (one.whose == Whose::session_mates && one.whole_session);
    const std::string_view wanted = is_own
                                        ? expected(one.whose, one.whole_session, one.state, one.token).check
                                        : check_of_anothers(one.state, one.token);
    EXPECT_EQ(text, wanted) << one.text();
  }
}

TEST(Release, OfALeaseThatNeverWasIsNotFound) {
  SmallWorld world;
  ReleaseRequest by_id = {.caller = caller(ann())};
  by_id.which.ids = {lease_id(1)};
  ReleaseRequest by_path = {.caller = caller(ann())};
  by_path.which.paths = {"/src/a.h"};

  EXPECT_EQ(text_of(world.manager.release(by_id)), "not_found");
  EXPECT_EQ(text_of(world.manager.release(by_path)), "not_found");
}

// What is answered twice is said once: nothing but the first call changes anything.
TEST(Release, WithAnyAnswerButDoneChangesNobodysLease) {
  for (const Case& one : all_cases()) {
    const Answers answers = expected(one.whose, one.whole_session, one.state, one.token);
    if (answers.release == "done" || one.state == State::lapsed) continue;
    SmallWorld world;
    put(world, one);
    const std::string before = world.everything();

    ReleaseRequest request = {.caller = one.who(), .token = one.given()};
    request.which.ids = {lease_id(1)};
    (void)world.manager.release(request);

    EXPECT_EQ(world.everything(), before) << one.text();
  }
}

TEST(Refusal, SaysWhatHappenedAndWhatToDo) {
  const Lease own = Case{Whose::own, false, State::expired, Given::nothing}.lease();
  const Lease others = Case{Whose::strangers, false, State::live, Given::nothing}.lease();
  const auto says = [](const Error& error, const std::string& part) {
    return error.message.find(part) != std::string::npos ? ""
                                                         : "'" + part + "' is missing in: " + error.message;
  };

  EXPECT_EQ(says(refusal(Standing::own_ended, "/src/a.h", own, EndCause::none), "its time ran out"), "");
  EXPECT_EQ(says(refusal(Standing::own_ended, "/src/a.h", own, EndCause::none), "Acquire it again"), "");
  EXPECT_EQ(says(refusal(Standing::transferred, "/src/a.h", own, EndCause::none), "lease status"), "");
  EXPECT_EQ(
      says(refusal(Standing::stale_token, "/src/a.h", own, EndCause::none), std::to_string(own.token.value)),
      "");
  EXPECT_EQ(says(refusal(Standing::not_owner, "/src/a.h", others, EndCause::none), "bob"), "");
  EXPECT_EQ(says(refusal(Standing::not_found, "/src/a.h", std::nullopt, EndCause::none), "/src/a.h"), "");
  EXPECT_EQ(says(refusal(Standing::own_pending, "/src/a.h", own, EndCause::none), "wait"), "");
  EXPECT_EQ(says(refusal(Standing::own_failed, "/src/a.h", own, EndCause::none), "did not get it"), "");
  EXPECT_EQ(says(refusal(Standing::not_owner, "/a b", others, EndCause::none), "\"/a b\" is leased to"), "");
  EXPECT_EQ(says(refusal(Standing::not_owner, "/a", others, EndCause::none), "lease status file:/src/a.h"),
            "");
}

TEST(Owns, TheSessionCountsOnlyForThoseWhoActForIt) {
  Caller self = caller({"ann", "s"});
  EXPECT_TRUE(owns(self, {"ann", "s"}));
  EXPECT_FALSE(owns(self, {"sub", "s"}));
  EXPECT_FALSE(owns(self, {"ann", "t"}));
  EXPECT_FALSE(owns(self, {"ann", ""}));

  self.whole_session = true;
  EXPECT_TRUE(owns(self, {"sub", "s"}));
  EXPECT_FALSE(owns(self, {"ann", "t"}));
}

// Everybody without a session is in no session together.
TEST(Owns, NoSessionIsNotASharedSession) {
  Caller self = caller({"ann", ""});
  self.whole_session = true;
  EXPECT_TRUE(owns(self, {"ann", ""}));
  EXPECT_FALSE(owns(self, {"bob", ""}));
}

}  // namespace
}  // namespace leasehold
