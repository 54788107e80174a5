#include "simulation/bugs.h"

#include <algorithm>

#include "simulation/buggy_store.h"
#include "support/manual_clock.h"

namespace leasehold::simulation {
namespace {

class DeadLookAlive final : public LivenessProbe {
 public:
  explicit DeadLookAlive(LivenessProbe& real) : real_(real) {}

  Verdict look_at(const Process& process) override {
    Verdict verdict = real_.look_at(process);
    if (verdict.liveness == Liveness::dead) verdict.liveness = Liveness::alive;
    return verdict;
  }

  bool is_dead(const Process& process) { return real_.look_at(process).liveness == Liveness::dead; }

 private:
  LivenessProbe& real_;
};

// What has to exist before the manager that uses it.
struct BuggyParts {
  BuggyParts(PlantedBug bug, const Parts& parts)
      : store(parts.store, bug, parts.wake), probe(parts.environment.liveness) {}

  BuggyStore store;
  DeadLookAlive probe;
};

class BuggyService final : private BuggyParts, public Service {
 public:
  BuggyService(PlantedBug bug, const Parts& parts)
      : BuggyParts(bug, parts),
        Service({bug == PlantedBug::dead_hold_on ? BuggyParts::probe : parts.environment.liveness,
                 parts.environment.random},
                BuggyParts::store, parts.workspace, parts.policy),
        bug_(bug),
        footprint_({.workspace = parts.workspace}) {}

  Result<AcquireAnswer> acquire(const AcquireRequest& request) override {
    store.hide_queue(bug_ == PlantedBug::queue_not_respected);
    auto answer = Service::acquire(request);
    store.hide_queue(false);
    return answer;
  }

  Result<void> cancel(const Caller& caller, const GroupId& ticket) override {
    auto done = Service::cancel(caller, ticket);
    if (bug_ == PlantedBug::subset_granted_on_cancel && done) grant_what_is_free(caller, ticket);
    return done;
  }

  Result<Outcomes> release(const ReleaseRequest& request) override {
    if (bug_ == PlantedBug::release_without_owner_check) return release_as_its_owner(request);
    ReleaseRequest asked = request;
    if (bug_ == PlantedBug::release_without_token_check) asked.token.reset();
    return Service::release(asked);
  }

  Result<Outcomes> renew(const RenewRequest& request) override {
    auto answer = Service::renew(request);
    if (bug_ == PlantedBug::renewal_resurrects && answer) resurrect(request, *answer);
    return answer;
  }

  Result<Swept> sweep(bool dead_owners) override {
    if (bug_ == PlantedBug::waiter_stranded_by_expiry) end_expired();
    return Service::sweep(dead_owners);
  }

 private:
  void grant_what_is_free(const Caller& caller, const GroupId& id) {
    std::optional<Ticket> ticket;
    (void)store.view(footprint_, [&](View& view) -> Result<void> {
      ticket = view.ticket(id);
      return {};
    });
    if (!ticket) return;
    AcquireRequest request = ticket->request;
    request.caller = caller;
    request.wait.reset();
    request.idempotency_key.clear();
    for (const WantedPath& wanted : ticket->request->paths) {
      request.paths = {wanted};
      (void)Service::acquire(request);
    }
  }

  Result<Outcomes> release_as_its_owner(const ReleaseRequest& request) {
    std::vector<std::string> paths = request.which.paths;
    std::vector<Lease> there;
    auto looked = store.view(footprint_, [&](View& view) -> Result<void> {
      for (const LeaseId& id : request.which.ids) {
        if (const auto lease = view.lease(id)) paths.push_back(lease->path);
      }
      for (const Lease& lease : view.leases({})) {
        if (std::ranges::find(paths, lease.path) != paths.end()) there.push_back(lease);
      }
      return {};
    });
    if (!looked || there.empty()) return Service::release(request);
    Outcomes outcomes;
    for (const Lease& lease : there) {
      auto released = Service::release(
          {.caller = {.holder = lease.holder}, .which = {.ids = {lease.id}}, .token = request.token});
      if (!released) return released;
      std::ranges::move(released->outcomes, std::back_inserter(outcomes.outcomes));
    }
    return outcomes;
  }

  void resurrect(const RenewRequest& request, Outcomes& answer) {
    (void)store.transact(footprint_, [&](Transaction& transaction) -> Result<void> {
      for (Outcome& outcome : answer.outcomes) {
        auto lease = transaction.last_lease(request.caller.holder.owner, outcome.path);
        if (!outcome.error || outcome.error->code != Code::lost || !lease) continue;
        if (lease->status != Status::expired && lease->status != Status::released) continue;
        lease->status = Status::active;
        lease->ended_by = EndCause::none;
        lease->expires_at = transaction.now() + lease->ttl;
        transaction.put(*lease);
        transaction.append({.type = EventType::renewed,
                            .lease_id = lease->id,
                            .group_id = lease->group_id,
                            .owner = lease->holder.owner,
                            .path = lease->path,
                            .subtree = lease->subtree,
                            .mode = lease->mode,
                            .token = lease->token,
                            .status_before = Status::active,
                            .status_after = Status::active,
                            .at = transaction.now()});
        outcome = {.path = lease->path, .lease = lease};
      }
      return {};
    });
  }

  bool is_dead(const Holder& holder) { return holder.process && probe.is_dead(*holder.process); }

  void end_expired() {
    (void)store.transact(footprint_, [&](Transaction& transaction) -> Result<void> {
      for (Lease& lease : transaction.due(transaction.now(), 1'000).leases) {
        if (lease.attended || lease.idle_at || lease.recalled_at || is_dead(lease.holder)) continue;
        lease.status = Status::expired;
        lease.ended_by = EndCause::expired;
        lease.updated_at = transaction.now();
        transaction.put(lease);
        transaction.append({.type = EventType::expired,
                            .lease_id = lease.id,
                            .group_id = lease.group_id,
                            .owner = lease.holder.owner,
                            .path = lease.path,
                            .subtree = lease.subtree,
                            .mode = lease.mode,
                            .token = lease.token,
                            .status_before = Status::active,
                            .status_after = Status::expired,
                            .cause = EndCause::expired,
                            .at = transaction.now()});
      }
      return {};
    });
  }

  const PlantedBug bug_;
  const Footprint footprint_;
};

class RealClock final : public StoreClock {
 public:
  explicit RealClock(const StoreClock& real) : real_(real) {}

  Time now() const override { return real_.now(); }
  WallTime wall() const override { return real_.wall(); }

 private:
  const StoreClock& real_;
};

class WallBoundClock final : public StoreClock {
 public:
  explicit WallBoundClock(const StoreClock& real) : real_(real) {}

  Time now() const override { return ManualClock::kStart + (real_.wall() - ManualClock::kWallStart); }
  WallTime wall() const override { return real_.wall(); }

 private:
  const StoreClock& real_;
};

}  // namespace

const std::vector<PlantedBugName>& planted_bugs() {
  using enum PlantedBug;
  static const std::vector<PlantedBugName> bugs = {
      {release_without_token_check, "release_without_token_check", {"I9"}},
      {release_without_owner_check, "release_without_owner_check", {"I9"}},
      {no_recheck_after_wait, "no_recheck_after_wait", {"I2"}},
      {notify_before_commit, "notify_before_commit", {"I12"}},
      {renewal_resurrects, "renewal_resurrects", {"I8"}},
      {expiry_by_wall_clock, "expiry_by_wall_clock", {"I6", "I16"}},
      {token_from_volatile_counter, "token_from_volatile_counter", {"I4"}},
      {subset_granted_on_cancel, "subset_granted_on_cancel", {"I10"}},
      {waiter_stranded_by_expiry, "waiter_stranded_by_expiry", {"I12"}},
      {answers_not_kept, "answers_not_kept", {"I5"}},
      {queue_not_respected, "queue_not_respected", {"I13"}},
      {torn_commit, "torn_commit", {"I10", "I20"}},
      {dead_hold_on, "dead_hold_on", {"I6", "I7", "I8"}},
      {gate_forgets_its_retry, "gate_forgets_its_retry", {"G2", "G3", "G4"}},
      {leases_not_counted, "leases_not_counted", {"L1"}},
  };
  return bugs;
}

std::unique_ptr<Service> make_service(PlantedBug bug, const Parts& parts) {
  if (bug != PlantedBug::none) return std::make_unique<BuggyService>(bug, parts);
  return std::make_unique<Service>(parts.environment, parts.store, parts.workspace, parts.policy);
}

std::unique_ptr<StoreClock> make_clock(PlantedBug bug, const StoreClock& real) {
  if (bug == PlantedBug::expiry_by_wall_clock) return std::make_unique<WallBoundClock>(real);
  return std::make_unique<RealClock>(real);
}

}  // namespace leasehold::simulation
