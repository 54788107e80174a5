#include "engine/live.h"

#include <gtest/gtest.h>

#include "leasehold/until_released.h"
#include "support/manual_clock.h"
#include "support/small_world.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow = ManualClock::kStart;

// What is known of the process behind a lease or a ticket.
enum class Seen { no_process, alive, stopped, dead, unknown };

struct Judge {
  Judge(Holder& holder, Seen seen) {
    if (seen == Seen::no_process) return;
    holder.process = process(42);
    const bool is_alive = seen == Seen::alive || seen == Seen::stopped;
    const Liveness liveness = is_alive             ? Liveness::alive
                              : seen == Seen::dead ? Liveness::dead
                                                   : Liveness::unknown;
    verdicts.learn(*holder.process, {liveness, "told so", seen == Seen::stopped});
  }

  Policy policy;
  Verdicts verdicts{out_of_sight};
  SeededRandom random;
  Context context{policy, verdicts, random};
};

struct LeaseCase {
  const char* name;
  Time expires_at;
  Seen seen;
  bool attended;
  Time heard;  // Last heartbeat.
  std::optional<Time> idle_at;
  std::optional<Time> recalled_at;
  EndCause expected;
};

constexpr Duration kSilenceMax = 30min;
constexpr auto kNever = std::nullopt;

// DESIGN section 4, the one predicate.
const LeaseCase kLeaseCases[] = {
    // Only time counts where nobody can be watched.
    {"a moment left", kNow + 1ns, Seen::no_process, false, kNow, kNever, kNever, EndCause::none},
    {"ends now", kNow, Seen::no_process, false, kNow, kNever, kNever, EndCause::expired},
    {"ended before", kNow - 1h, Seen::no_process, false, kNow - 2h, kNever, kNever, EndCause::expired},
    {"never ends", kForever, Seen::no_process, false, kNow - 24h * 365, kNever, kNever, EndCause::none},
    {"in its time, heard of long ago", kNow + 1ns, Seen::unknown, false, kNow - 24h, kNever, kNever,
     EndCause::none},

    // Proven death ends it at once, whatever the time; unknown counts as alive until then.
    {"dead with time left", kNow + 1h, Seen::dead, false, kNow, kNever, kNever, EndCause::owner_dead},
    {"dead and attended", kNow + 1h, Seen::dead, true, kNow, kNever, kNever, EndCause::owner_dead},
    {"dead and never ending", kForever, Seen::dead, false, kNow, kNever, kNever, EndCause::owner_dead},
    {"dead after its time", kNow - 1s, Seen::dead, true, kNow - 1min, kNever, kNever, EndCause::owner_dead},
    {"unknown with time left", kNow + 1ns, Seen::unknown, true, kNow, kNever, kNever, EndCause::none},
    {"unknown after its time", kNow, Seen::unknown, true, kNow, kNever, kNever, EndCause::expired},

    // Attended and seen alive, it outlives its time, as long as it is heard of.
    {"attended, alive", kNow - 1min, Seen::alive, true, kNow - 6min, kNever, kNever, EndCause::none},
    {"alive, not attended", kNow - 1min, Seen::alive, false, kNow - 6min, kNever, kNever, EndCause::expired},
    {"attended, stopped", kNow - 1min, Seen::stopped, true, kNow - 6min, kNever, kNever, EndCause::none},
    {"attended, no process", kNow - 1min, Seen::no_process, true, kNow - 6min, kNever, kNever,
     EndCause::expired},
    {"just not silent too long", kNow - 1min, Seen::alive, true, kNow - kSilenceMax + 1ns, kNever, kNever,
     EndCause::none},
    {"silent too long", kNow - 1min, Seen::alive, true, kNow - kSilenceMax, kNever, kNever, EndCause::silent},
    {"silent too long with time left", kNow + 1ns, Seen::alive, true, kNow - kSilenceMax, kNever, kNever,
     EndCause::none},

    // The turn stopped.
    {"idle, some grace left", kNow + 1h, Seen::alive, false, kNow, kNow + 1ns, kNever, EndCause::none},
    {"idle, grace is over", kNow + 1h, Seen::alive, false, kNow, kNow, kNever, EndCause::idle},
    {"idle, out of its own time first", kNow, Seen::alive, false, kNow, kNow + 30s, kNever,
     EndCause::expired},
    {"idle and dead", kNow + 1h, Seen::dead, false, kNow, kNow + 30s, kNever, EndCause::owner_dead},

    // Asked back.
    {"recalled, some time left", kNow + 1h, Seen::alive, true, kNow, kNever, kNow + 1ns, EndCause::none},
    {"recalled, time is up", kNow + 1h, Seen::alive, true, kNow, kNever, kNow, EndCause::recalled},
    {"recalled and never ending", kForever, Seen::no_process, false, kNow, kNever, kNow, EndCause::recalled},
    {"recalled, out of its own time first", kNow, Seen::no_process, false, kNow, kNever, kNow + 1s,
     EndCause::expired},
};

TEST(LiveLease, IsLiveExactlyAsTheTableSays) {
  for (const LeaseCase& row : kLeaseCases) {
    Lease lease = make_lease(1, "/a");
    lease.expires_at = row.expires_at;
    lease.acquired_at = row.expires_at == kForever ? kNow : Time(row.expires_at - lease.ttl);
    lease.attended = row.attended;
    lease.last_heartbeat_at = row.heard;
    lease.idle_at = row.idle_at;
    lease.recalled_at = row.recalled_at;
    const Judge judge(lease.holder, row.seen);

    EXPECT_EQ(word(lapse(lease, kNow, judge.context)), word(row.expected)) << row.name;
  }
}

// Its owner's process is there, but may be stopped: nobody was seen to take it.
TEST(LiveLease, OneThatAwaitsItsOwnerEndsWithItsTime) {
  Lease lease = make_lease(1, "/a");
  lease.attended = true;
  lease.acquired_at = lease.last_heartbeat_at = kNow - 16s;
  lease.expires_at = kNow - 1s;
  const Judge judge(lease.holder, Seen::stopped);

  EXPECT_EQ(lapse(lease, kNow, judge.context), EndCause::expired);
}

struct TicketCase {
  const char* name;
  Time wait_until;
  Time proven_until;
  Seen seen;
  EndCause expected;
};

const TicketCase kTicketCases[] = {
    {"a moment left", kNow + 1ns, kNow + 1ns, Seen::no_process, EndCause::none},
    {"waited long enough", kNow, kNow + 1s, Seen::no_process, EndCause::timed_out},
    {"waited long enough, alive", kNow, kNow + 1s, Seen::alive, EndCause::timed_out},
    {"waited long enough, dead", kNow, kNow + 1s, Seen::dead, EndCause::timed_out},
    {"dead", kNow + 1h, kNow + 1h, Seen::dead, EndCause::owner_dead},
    {"cannot be seen, proved its life", kNow + 1h, kNow + 1ns, Seen::unknown, EndCause::none},
    {"cannot be seen, proved nothing lately", kNow + 1h, kNow, Seen::unknown, EndCause::silent},
    {"no process, proved nothing lately", kNow + 1h, kNow, Seen::no_process, EndCause::silent},
    {"seen alive, proved nothing lately", kNow + 1h, kNow - 1h, Seen::alive, EndCause::none},
    {"stopped, proved its life", kNow + 1h, kNow + 1ns, Seen::stopped, EndCause::none},
    {"stopped, proved nothing lately", kNow + 1h, kNow, Seen::stopped, EndCause::silent},
};

TEST(LiveTicket, IsLiveExactlyAsTheTableSays) {
  for (const TicketCase& row : kTicketCases) {
    Ticket ticket = make_ticket(1, {"/a"});
    ticket.wait_until = row.wait_until;
    ticket.proven_until = row.proven_until;
    const Judge judge(ticket.request.own().caller.holder, row.seen);

    EXPECT_EQ(word(lapse(ticket, kNow, judge.context)), word(row.expected)) << row.name;
  }
}

TEST(Liveness, AProcessIsLookedAtOnce) {
  Lease lease = make_lease(1, "/a");
  lease.holder.process = process(42);
  int looks = 0;
  const Verdicts verdicts([&](const Process& asked) -> Verdict {
    EXPECT_EQ(asked, process(42));
    ++looks;
    return {Liveness::dead, "told so"};
  });
  const Policy policy;
  SeededRandom random;
  const Context context{policy, verdicts, random};

  EXPECT_EQ(lapse(lease, kNow, context), EndCause::owner_dead);
  EXPECT_EQ(lapse(lease, kNow, context), EndCause::owner_dead);
  EXPECT_EQ(looks, 1);
}

TEST(Liveness, NobodyAsksAboutAProcessWhenTimeAloneDecides) {
  Lease lease = make_lease(1, "/a");
  lease.holder.process = process(42);
  lease.idle_at = kNow;
  const Verdicts verdicts([](const Process&) -> Verdict {
    ADD_FAILURE() << "looked at a process";
    return {};
  });
  const Policy policy;
  SeededRandom random;

  EXPECT_EQ(lapse(lease, kNow, {policy, verdicts, random}), EndCause::idle);
}

TEST(ProofOfLife, ExtendsByTheTtlButNotBeyondTheAllowedSilence) {
  Lease lease = make_lease(1, "/a");
  lease.ttl = 5min;
  lease.expires_at = kNow - 1s;
  const Policy policy;

  lease.last_heartbeat_at = kNow - 10min;
  EXPECT_EQ(attendance_end(lease, kNow, policy), kNow + 5min);

  lease.last_heartbeat_at = kNow - 28min;
  EXPECT_EQ(attendance_end(lease, kNow, policy), kNow + 2min);
}

TEST(ProofOfLife, DoesNotOutlastARecall) {
  Lease lease = make_lease(1, "/a");
  lease.expires_at = kNow - 1s;
  lease.recalled_at = kNow + 10s;

  EXPECT_EQ(attendance_end(lease, kNow, Policy{}), kNow + 10s);
}

TEST(ProofOfLife, IsNeededFromTheMomentTheTimeIsUp) {
  Lease lease = make_lease(1, "/a");
  lease.expires_at = kNow + 1ns;
  EXPECT_FALSE(lives_by_attendance(lease, kNow));
  lease.expires_at = kNow;
  EXPECT_TRUE(lives_by_attendance(lease, kNow));
}

TEST(Term, EndsAfterTheTtlOrWhenAskedBack) {
  Lease lease = make_lease(1, "/a");
  lease.ttl = 5min;
  EXPECT_EQ(end_of_term(lease, kNow), kNow + 5min);
  lease.recalled_at = kNow + 1min;
  EXPECT_EQ(end_of_term(lease, kNow), kNow + 1min);
  lease.recalled_at = kNow + 1h;
  EXPECT_EQ(end_of_term(lease, kNow), kNow + 5min);
}

TEST(Term, HasNoEndWhereNoTimeCanTellIt) {
  EXPECT_EQ(end_of_term(std::chrono::hours(24) * 100'000, kNow), kNow + std::chrono::hours(24) * 100'000);
  EXPECT_EQ(end_of_term(std::chrono::hours(24) * 100'000, kForever - 1s), kForever);
  EXPECT_EQ(end_of_term(kUntilReleased, kNow), kForever);
}

}  // namespace
}  // namespace leasehold
