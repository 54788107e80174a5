// Promises that need no model, kept whatever happened before.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "property/operation.h"
#include "support/small_world.h"

namespace leasehold::property {
namespace {

using std::chrono::seconds;

AcquireRequest request_of(const Operation& operation) {
  AcquireRequest request;
  request.caller = caller({agent_name(operation.agent), ""});
  for (const int index : operation.places) {
    WantedPath wanted;
    wanted.path = place_at(index).path;
    wanted.subtree = place_at(index).subtree;
    request.paths.push_back(std::move(wanted));
  }
  request.mode = operation.exclusive ? Mode::exclusive : Mode::shared;
  request.ttl = seconds(operation.ttl);
  request.priority = operation.priority;
  return request;
}

bool is_granted(const Result<AcquireAnswer>& answer) {
  return answer && std::holds_alternative<Granted>(answer->decision);
}

const Granted& grant_of(const Result<AcquireAnswer>& answer) { return std::get<Granted>(answer->decision); }

// Some agents ask for something, time passes now and then.
void live_for_a_while(SmallWorld& world, const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    (void)world.manager.acquire(request_of(operation));
    if (operation.attended) world.clock.advance(seconds(operation.seconds));
  }
}

rc::Gen<std::vector<Operation>> any_past() {
  return rc::gen::scale(0.3, rc::gen::container<std::vector<Operation>>(any_operation()));
}

RC_GTEST_PROP(Promise, TokensRise, ()) {
  SmallWorld world;
  Token highest;
  for (const Operation& operation : *any_past()) {
    const auto answer = world.manager.acquire(request_of(operation));
    Token newest = highest;
    if (is_granted(answer)) {
      for (const Lease& lease : grant_of(answer).leases) {
        const bool is_new = lease.group_id == grant_of(answer).group_id;
        if (is_new) RC_ASSERT(lease.token > highest);
        newest = std::max(newest, lease.token);
      }
    }
    highest = newest;
    // Tokens rise when the wall clock is set back, too.
    if (operation.attended) world.clock.step_wall(-seconds(operation.seconds * 1000));
  }
}

RC_GTEST_PROP(Promise, AskingAgainNeverShortens, ()) {
  SmallWorld world;
  live_for_a_while(world, *any_past());
  const Operation first = *any_operation();
  const auto before = world.manager.acquire(request_of(first));
  RC_PRE(is_granted(before));

  world.clock.advance(seconds(*rc::gen::inRange(0, first.ttl)));
  Operation again = first;
  again.ttl = *rc::gen::inRange(1, 1000);
  const auto after = world.manager.acquire(request_of(again));

  RC_ASSERT(is_granted(after));
  for (std::size_t i = 0; i < grant_of(before).leases.size(); ++i) {
    const Lease& old = grant_of(before).leases[i];
    const Lease& now = grant_of(after).leases[i];
    RC_ASSERT(now.id == old.id);
    RC_ASSERT(now.token == old.token);
    RC_ASSERT(now.group_id == old.group_id);
    RC_ASSERT(now.expires_at >= old.expires_at);
    RC_ASSERT(now.expires_at >= world.clock.now() + std::min<Duration>(seconds(again.ttl), Policy{}.ttl_max));
  }
}

RC_GTEST_PROP(Promise, ReleasingTwiceIsReleasingOnce, ()) {
  SmallWorld world;
  live_for_a_while(world, *any_past());
  const Operation operation = *any_operation();
  const auto answer = world.manager.acquire(request_of(operation));
  RC_PRE(is_granted(answer));

  ReleaseRequest release = {.caller = request_of(operation).caller};
  for (const Lease& lease : grant_of(answer).leases) release.which.ids.push_back(lease.id);
  const auto once = world.manager.release(release);
  const std::string after_once = world.everything();
  const auto twice = world.manager.release(release);

  RC_ASSERT(once && twice);
  for (const Outcome& outcome : once->outcomes) RC_ASSERT(!outcome.error && !outcome.already);
  for (const Outcome& outcome : twice->outcomes) RC_ASSERT(!outcome.error && outcome.already);
  RC_ASSERT(world.everything() == after_once);
}

// An answer that was lost is asked for again: under the same key that changes nothing.
RC_GTEST_PROP(Promise, TheSameKeyGrantsOnce, ()) {
  SmallWorld world;
  live_for_a_while(world, *any_past());
  AcquireRequest request = request_of(*any_operation());
  request.idempotency_key = "key";
  const auto once = world.manager.acquire(request);
  RC_PRE(is_granted(once));

  const std::string after_once = world.everything();
  const auto twice = world.manager.acquire(request);

  RC_ASSERT(is_granted(twice));
  RC_ASSERT(grant_of(twice).replayed);
  RC_ASSERT(grant_of(twice).leases == grant_of(once).leases);
  RC_ASSERT(world.everything() == after_once);
}

}  // namespace
}  // namespace leasehold::property
