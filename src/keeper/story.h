// For tests of KeeperState: the time as told, chance as told, and answers as a store would give them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "keeper/keeper_state.h"
#include "support/manual_clock.h"
#include "support/records.h"

namespace leasehold {

class FixedRandom final : public Random {
 public:
  std::uint64_t next() override { return value; }

  std::uint64_t value = 500;  // In the middle: no jitter at renewals. 0 and 1000 are the ends.
};

struct Story {
  static constexpr LocalTime kStart{std::chrono::hours(7)};  // Not the store's time.

  static Caller as_ann() {
    Caller caller;
    caller.holder.owner = ann();
    return caller;
  }

  explicit Story(bool recovers = true) : state(as_ann(), random, recovers) {}

  FixedRandom random;
  KeeperState state;
  LocalTime now = kStart;

  // The store's clock, if both run alike.
  Time store_now() const { return ManualClock::kStart + (now - kStart); }

  // A lease as the store would have decided it now.
  Lease fresh(Lease lease) const {
    lease.last_heartbeat_at = lease.updated_at = store_now();
    lease.expires_at = std::min({Time(store_now() + lease.ttl), lease.recalled_at.value_or(kForever),
                                 lease.idle_at.value_or(kForever)});
    return lease;
  }

  static AcquireRequest request_for(const Lease& lease) {
    AcquireRequest request;
    request.caller = as_ann();
    request.mode = lease.mode;
    request.ttl = lease.ttl;
    request.reason = "because";
    request.room = "kitchen";
    request.priority = 3;
    request.wait = std::chrono::minutes(1);
    request.idempotency_key = "once";
    request.paths.push_back({.path = lease.path, .subtree = lease.subtree});
    return request;
  }

  // Granted now as one, in no time.
  void add(const std::vector<Lease>& leases) {
    Granted granted = {.group_id = leases.front().group_id};
    for (const Lease& lease : leases) {
      granted.leases.push_back(fresh(lease));
      granted.leases.back().group_id = granted.group_id;
    }
    state.add(request_for(leases.front()), granted, now, now);
  }

  // What it does next; nothing if it is something else.
  template <class Kind>
  std::optional<Kind> next() {
    Step step = state.next(now);
    Kind* kind = std::get_if<Kind>(&step);
    return kind == nullptr ? std::nullopt : std::optional(std::move(*kind));
  }

  // Time passes until something is to be done (or, if nothing is, not at all).
  void wait() {
    for (auto wait = next<Wait>(); wait && wait->until != LocalTime::max(); wait = next<Wait>())
      now = wait->until;
  }

  // All named leases renewed now; the answer takes no time.
  Outcomes renewed(const RenewCall& call) {
    Outcomes answer;
    for (const Lease& lease : state.kept()) {
      if (std::ranges::find(call.ids, lease.id) == call.ids.end()) continue;
      answer.outcomes.push_back({.path = lease.path, .lease = fresh(lease)});
    }
    return answer;
  }

  // Answers what is to be done now; false if it is something else.
  bool renew() {
    const auto call = next<RenewCall>();
    if (call) state.answered(*call, renewed(*call), {now, now});
    return call.has_value();
  }
  bool refuse_renewal(Code code, const std::vector<Notice>& notices = {}) {
    const auto call = next<RenewCall>();
    if (!call) return false;
    Outcomes answer = {.notices = notices};
    for (const LeaseId& id : call->ids) {
      Lease lease;
      lease.id = id;
      answer.outcomes.push_back({.lease = lease, .error = Error{code, "refused"}});
    }
    state.answered(*call, answer, {now, now});
    return true;
  }
  bool fail_renewal(Code code = Code::unavailable) {
    const auto call = next<RenewCall>();
    if (call) state.answered(*call, fail(code, "no answer"), {now, now});
    return call.has_value();
  }
  bool look_up(const Result<Lease>& found) {
    const auto call = next<LookCall>();
    if (call) state.answered(*call, found, {now, now});
    return call.has_value();
  }

  // The words of the events since the last time.
  std::vector<std::string> told() {
    std::vector<std::string> words;
    events = state.take_events();
    for (const KeeperEvent& event : events) words.emplace_back(word(event.type));
    return words;
  }
  std::vector<KeeperEvent> events;  // Those told last.
};

using Words = std::vector<std::string>;

// How long a lease of five minutes is good: less the margin.
inline constexpr LocalDuration kGood = std::chrono::minutes(5) - std::chrono::milliseconds(6010);

inline Lease ttl_of(Duration ttl, Lease lease) {
  lease.ttl = ttl;
  return lease;
}

inline Notice notice_of(const Lease& lease, EndCause cause) {
  Notice notice = make_notice(1, lease);
  notice.cause = cause;
  return notice;
}

// The store cannot be reached until nothing is valid any more; that may take an hour.
inline void sit_out_an_outage(Story& story) {
  for (int tries = 0; tries < 100 && story.state.next_expiry() != LocalTime::max(); ++tries) {
    story.wait();
    ASSERT_TRUE(story.fail_renewal());
  }
  story.wait();
}

}  // namespace leasehold
