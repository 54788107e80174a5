// The tests that seed 003 names for the lease itself, and its five errors.
#include "library/library_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

using LeaseLife = Library;
INSTANTIATE_TEST_SUITE_P(Stores, LeaseLife, testing::ValuesIn(available_stores()), store_of);

using Words = std::vector<std::string>;

// test_lease_creation
TEST_P(LeaseLife, ANewLeaseHasAllThatWasAskedFor) {
  AcquireRequest request = asking(ann(), {"/important.txt"});
  request.ttl = 10min;
  request.max_renewals = 5;
  request.reason = "edits";
  request.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  const Lease lease = granted(client().acquire(request));

  EXPECT_EQ(lease.id.text.size(), 36U);
  EXPECT_EQ(lease.path, "/important.txt");
  EXPECT_EQ(lease.holder.owner, ann());
  EXPECT_EQ(lease.status, Status::active);
  EXPECT_EQ(lease.created_at, clock.now());
  EXPECT_EQ(lease.expires_at, clock.now() + 10min);
  EXPECT_EQ(lease.ttl, 10min);
  EXPECT_EQ(lease.renewal_count, 0);
  EXPECT_EQ(lease.max_renewals, 5);
  EXPECT_EQ(lease.trace, request.trace);
  EXPECT_EQ(client().lease(lease.id), lease);
}

// test_lease_is_valid
TEST_P(LeaseLife, ALeaseIsValidUntilItsTimeIsUpAndNotAMomentLonger) {
  const Lease lease = acquire(ann(), "/a");

  clock.advance(5min - 1us);
  EXPECT_TRUE(client().check(caller(ann()), "/a", lease.token)->current);
  EXPECT_TRUE(*client().is_locked("/a"));

  clock.advance(1us);
  const auto over = client().check(caller(ann()), "/a", lease.token);
  EXPECT_FALSE(over->current);
  EXPECT_EQ(over->error->code, Code::lost);
  EXPECT_FALSE(*client().is_locked("/a"));
}

// test_lease_renewal
TEST_P(LeaseLife, ARenewalCountsFromNowAndMayChangeTheTtl) {
  const Lease lease = acquire(ann(), "/a");

  clock.advance(4min);
  const Outcome same = renew(ann(), lease);
  ASSERT_TRUE(same.lease);
  EXPECT_EQ(same.lease->expires_at, clock.now() + 5min);
  EXPECT_EQ(same.lease->renewal_count, 1);
  EXPECT_EQ(same.lease->token, lease.token);

  const Outcome longer = renew(ann(), lease, 20min);
  EXPECT_EQ(longer.lease->expires_at, clock.now() + 20min);
  EXPECT_EQ(longer.lease->ttl, 20min);
  EXPECT_EQ(longer.lease->renewal_count, 2);

  EXPECT_TRUE(renew(ann(), lease, 2h).ttl_clamped) << "the cap is an hour";
}

// test_time_remaining
TEST_P(LeaseLife, TheTimeThatRemainsIsToldByTheStoresClock) {
  acquire(ann(), "/a");
  clock.advance(2min);

  const auto board = client().board();

  ASSERT_EQ(board->rows.size(), 1U);
  EXPECT_EQ(board->rows.front().lease.expires_at - board->now, 3min);
}

// test_lease_status_transitions
TEST_P(LeaseLife, EachChangeOfStatusIsOneLineOfHistory) {
  const Lease released = acquire(ann(), "/released");
  EXPECT_FALSE(release(ann(), released).error);
  EXPECT_EQ(client().lease(released.id)->status, Status::released);

  const Lease expired = acquire(ann(), "/expired");
  AcquireRequest waits = asking(bob(), {"/expired"});
  waits.wait = 1min;
  const auto queued = client().acquire(waits);
  ASSERT_TRUE(std::holds_alternative<Queued>(queued->decision));
  clock.advance(1min);
  EXPECT_EQ(refused(client().poll(caller(bob()), std::get<Queued>(queued->decision).ticket))->code,
            Code::timeout);
  clock.advance(4min);
  EXPECT_EQ(client().cleanup()->ended, 1U);
  EXPECT_EQ(client().lease(expired.id)->status, Status::expired);

  EXPECT_EQ(history_of("/released"), (Words{"acquired", "released"}));
  EXPECT_EQ(history_of("/expired"), (Words{"acquired", "queued", "failed", "expired"}));
}

TEST_P(LeaseLife, WithoutHistoryNothingIsRecordedButEverythingWorks) {
  Policy policy;
  policy.keep_history = false;
  const auto silent = open(policy);

  const Lease lease = granted(silent->acquire(asking(ann(), {"/a"})));
  ForceReleaseRequest force = {.actor = "olga", .which = by_id(lease), .reason = "release day"};
  EXPECT_TRUE(silent->force_release(force));

  EXPECT_EQ(silent->history({})->size(), 0U);
  const auto told = silent->acquire(asking(ann(), {"/b"}));
  EXPECT_EQ(told->notices.size(), 1U) << "notices do not need history";
}

// --- Seed 003's five errors ---

TEST_P(LeaseLife, AnUnknownLeaseIsNotFound) {
  Lease never;
  never.id = {"00000000-0000-4000-8000-000000000000"};

  EXPECT_EQ(client().lease(never.id).error().code, Code::not_found);
  EXPECT_EQ(renew(ann(), never).error->code, Code::not_found);
  EXPECT_EQ(release(ann(), never).error->code, Code::not_found);
}

TEST_P(LeaseLife, SomebodyElsesLeaseIsNotRenewedOrReleased) {
  const Lease lease = acquire(ann(), "/a");

  EXPECT_EQ(renew(bob(), lease).error->code, Code::not_owner);
  EXPECT_EQ(release(bob(), lease).error->code, Code::not_owner);

  EXPECT_EQ(client().lease(lease.id), lease) << "nothing changed";
}

TEST_P(LeaseLife, AtMostMaxRenewalsAreGranted) {
  AcquireRequest request = asking(ann(), {"/a"});
  request.max_renewals = 2;
  const Lease lease = granted(client().acquire(request));
  EXPECT_FALSE(renew(ann(), lease).error);
  EXPECT_FALSE(renew(ann(), lease).error);

  const Outcome third = renew(ann(), lease);

  EXPECT_EQ(third.error->code, Code::max_renewals_exceeded);
  EXPECT_TRUE(*client().is_locked("/a")) << "it lasts until its end";
}

TEST_P(LeaseLife, AHeldFileIsRefusedAtOnceWithItsHolder) {
  const Lease lease = acquire(ann(), "/a");

  const auto answer = client().acquire(asking(bob(), {"/b", "/a"}));

  const Refused* no = refused(answer);
  ASSERT_NE(no, nullptr);
  EXPECT_EQ(no->code, Code::busy);
  ASSERT_EQ(no->blocked.size(), 1U);
  EXPECT_EQ(no->blocked.front().holder.owner, ann());
  EXPECT_EQ(no->blocked.front().lease_id, lease.id);
  EXPECT_FALSE(*client().is_locked("/b")) << "all or nothing";
}

TEST_P(LeaseLife, ATimeoutSaysHowLongAndForWhom) {
  acquire(ann(), "/a");
  AcquireRequest waits = asking(bob(), {"/a"});
  waits.wait = 30s;
  const auto queued = client().acquire(waits);
  ASSERT_TRUE(std::holds_alternative<Queued>(queued->decision));

  clock.advance(30s);
  const auto answer = client().poll(caller(bob()), std::get<Queued>(queued->decision).ticket);

  const Refused* no = refused(answer);
  ASSERT_NE(no, nullptr);
  EXPECT_EQ(no->code, Code::timeout);
  EXPECT_EQ(no->waited, 30s);
  EXPECT_EQ(no->blocked.at(0).holder.owner, ann());
  EXPECT_NE(no->message.find("Waited 30s"), std::string::npos) << no->message;
}

}  // namespace
}  // namespace leasehold
