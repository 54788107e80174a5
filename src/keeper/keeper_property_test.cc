// A lease is never believed longer than it is true: whatever is asked, answered, delayed and lost, as long as
// the two clocks run at speeds within 1 % of true time. A toy store decides what is true.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>

#include "keeper/keeper_state.h"
#include "support/records.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using True = std::chrono::nanoseconds;  // True time, since the world began.

Caller as_ann() {
  Caller caller;
  caller.holder.owner = ann();
  return caller;
}

// A clock that shows so many thousandths of true time.
template <class Point>
struct Skewed {
  int permille = 1000;
  Point start;

  Point at(True moment) const { return start + moment * permille / 1000; }
  // The last moment at which it shows less than `point`.
  True before(Point point) const { return ((point - start) * 1000 + True(permille - 1)) / permille - 1ns; }
};

// Exclusive leases on single paths. Others take what is free.
class ToyStore {
 public:
  void tell_time(Time now) { now_ = now; }

  bool is_live(const LeaseId& id, Time now) const {
    const auto lease = leases_.find(id);
    return lease != leases_.end() && lease->second.status == Status::active && now < lease->second.expires_at;
  }

  Result<AcquireAnswer> acquire(const AcquireRequest& request) {
    Refused refused = {.code = Code::busy};
    for (const WantedPath& wanted : request.paths) {
      if (others_.contains(wanted.path)) refused.blocked.push_back({.path = wanted.path});
    }
    if (!refused.blocked.empty()) return AcquireAnswer{refused, {}};
    Granted granted = {.group_id = group_id(++number_)};
    for (const WantedPath& wanted : request.paths) {
      granted.leases.push_back(give(wanted.path, *request.ttl, granted.group_id));
    }
    return AcquireAnswer{granted, {}};
  }

  Result<Outcomes> renew(const RenewRequest& request) {
    Outcomes answer;
    std::vector<LeaseId> ids = request.which.ids;
    if (request.which.all) {
      for (const auto& [id, lease] : leases_) {
        if (lease.status == Status::active) ids.push_back(id);
      }
    }
    for (const LeaseId& id : ids) answer.outcomes.push_back(renew(id));
    return answer;
  }

  Result<Lease> lease(const LeaseId& id) {
    const auto found = leases_.find(id);
    if (found == leases_.end()) return fail(Code::not_found, "");
    return found->second;
  }

  void end(const LeaseId& id, EndCause cause) {
    const auto found = leases_.find(id);
    if (found == leases_.end() || found->second.status != Status::active) return;
    found->second.status = cause == EndCause::expired ? Status::expired : Status::released;
    found->second.ended_by = cause;
  }

  // Somebody else wants it; false if ann has it.
  bool take(const std::string& path) {
    for (const auto& [id, lease] : leases_) {
      if (lease.path == path && is_live(id, now_)) return false;
    }
    others_.insert(path);
    return true;
  }
  void give_back(const std::string& path) { others_.erase(path); }

 private:
  Lease give(const std::string& path, Duration ttl, const GroupId& group) {
    for (auto& [id, lease] : leases_) {
      if (lease.path != path || !is_live(id, now_)) continue;
      lease.last_heartbeat_at = lease.updated_at = now_;
      if (now_ + ttl > lease.expires_at) {
        lease.ttl = ttl;
        lease.expires_at = now_ + ttl;
      }
      return lease;
    }
    Lease lease = make_lease(++number_, path);
    lease.group_id = group;
    lease.token = {static_cast<std::uint64_t>(number_)};
    lease.ttl = ttl;
    lease.last_heartbeat_at = lease.updated_at = now_;
    lease.expires_at = now_ + ttl;
    return leases_.emplace(lease.id, lease).first->second;
  }

  Outcome renew(const LeaseId& id) {
    const auto found = leases_.find(id);
    if (found == leases_.end()) return {.error = Error{Code::not_found, ""}};
    Lease& lease = found->second;
    if (!is_live(id, now_)) {
      end(id, EndCause::expired);
      return {.path = lease.path, .error = Error{Code::lost, ""}};  // As the engine does: without the lease.
    }
    lease.last_heartbeat_at = lease.updated_at = now_;
    lease.expires_at = now_ + lease.ttl;
    return {.path = lease.path, .lease = lease};
  }

  Time now_;
  int number_ = 0;
  std::map<LeaseId, Lease> leases_;
  std::set<std::string> others_;
};

class RandomFromRapidCheck final : public Random {
 public:
  std::uint64_t next() override { return *rc::gen::inRange<std::uint64_t>(0, 1001); }
};

// The keeper's thread, its owner, the network and the store, in one thread and in true time.
class World {
 public:
  // `patience`: how late anything may be, at most.
  World(int local_permille, int store_permille, True patience)
      : local_{local_permille, LocalTime(7h)},
        store_clock_{store_permille, Time(1000s)},
        patience_(patience) {}

  KeeperState& state() { return state_; }
  ToyStore& store() { return store_; }
  void be_unreachable(bool unreachable) {
    log(unreachable ? "unreachable" : "reachable");
    unreachable_ = unreachable;
  }
  void be_lossy(bool lossy) { lossy_ = lossy; }
  void release(const LeaseId& id) {
    log("release " + id.text);
    state_.remove({id});
    store_.end(id, EndCause::released);
  }
  // Behind its owner's back; it cannot know before it asks.
  void forbid(const LeaseId& id) {
    log("force " + id.text);
    store_.end(id, EndCause::forced);
    forced_.insert(id);
  }
  void during_calls(std::function<void()> happening) { happening_ = std::move(happening); }

  LocalTime local_now() const { return local_.at(now_); }
  std::size_t expirations() const { return expirations_; }
  std::size_t checks() const { return checks_; }

  // Time passes, and nobody does anything.
  void pass(True by) {
    const True end = now_ + by;
    for (const Lease& lease : state_.kept()) {
      if (forced_.contains(lease.id)) continue;
      const LocalDuration left = state_.left(lease.id, local_now());
      if (left == LocalDuration::zero()) continue;
      // The last moment at which it is believed.
      const True last = std::min(end, local_.before(local_now() + left));
      if (!store_.is_live(lease.id, store_clock_.at(last))) log("believed, but over: " + lease.id.text);
      RC_ASSERT(store_.is_live(lease.id, store_clock_.at(last)));
      ++checks_;
    }
    now_ = end;
    store_.tell_time(store_clock_.at(now_));
    count_events();
  }

  // Time passes, and the keeper does what it has to.
  void run(True by) {
    const True end = now_ + by;
    while (now_ < end) {
      const Step step = state_.next(local_now());
      if (const auto* wait = std::get_if<Wait>(&step)) {
        const True until =
            wait->until == LocalTime::max() ? end : std::min(end, local_.before(wait->until) + 1ns);
        pass(until - now_);
      } else if (const auto* renew = std::get_if<RenewCall>(&step)) {
        log(renew->request.which.all ? "renew all" : "renew");
        call<Outcomes>(*renew, [&] { return store_.renew(renew->request); });
      } else if (const auto* look = std::get_if<LookCall>(&step)) {
        log("look up " + look->id.text);
        call<Lease>(*look, [&] { return store_.lease(look->id); });
      } else if (const auto* acquire = std::get_if<AcquireCall>(&step)) {
        log("acquire again");
        call<AcquireAnswer>(*acquire, [&] { return store_.acquire(acquire->request); });
      }
    }
  }

  // Its owner acquires something.
  void acquire(const std::vector<std::string>& paths, Duration ttl) {
    AcquireRequest request = {.caller = as_ann(), .ttl = ttl};
    for (const std::string& path : paths) request.paths.push_back({.path = path});
    log("acquire " + paths.front() + (paths.size() > 1 ? " and more" : "") + " for " +
        std::to_string(ttl.count()) + "ms");
    const LocalTime asked_at = local_now();
    // One owner does one thing at a time: who releases a path while acquiring it must know which it wants.
    const std::function<void()> happening = std::exchange(happening_, nullptr);
    const auto answer = deliver<AcquireAnswer>([&] { return store_.acquire(request); });
    happening_ = happening;
    if (!answer) return;
    if (const auto* granted = std::get_if<Granted>(&answer->decision)) {
      state_.add(request, *granted, asked_at, local_now());
    }
  }

 private:
  // Shown with a counterexample.
  void log(const std::string& what) const {
    RC_LOG() << std::chrono::duration<double>(now_).count() << "s " << what << "\n";
  }

  True some_delay() const { return True(*rc::gen::inRange<std::int64_t>(0, patience_.count())); }

  template <class Answer>
  Result<Answer> deliver(const std::function<Result<Answer>()>& decide) {
    const int fate = lossy_ ? *rc::gen::inRange(0, 4) : 3;
    pass(some_delay());
    if (unreachable_ || fate == 0) {
      log("-> not reached");
      return fail(Code::unavailable, "");
    }
    happen();
    const Result<Answer> answer = decide();
    log("-> decided");
    pass(some_delay());
    happen();
    log(fate == 1 ? "-> answer lost" : "-> answered");
    if (fate == 1) return fail(Code::outcome_unknown, "");
    return answer;
  }

  template <class Answer, class Call>
  void call(const Call& call, const std::function<Result<Answer>()>& decide) {
    const LocalTime asked_at = local_now();
    const Result<Answer> answer = deliver<Answer>(decide);
    state_.answered(call, answer, {asked_at, local_now()});
    if (now_ == last_call_) pass(1ns);  // Nothing here is infinitely fast.
    last_call_ = now_;
    count_events();
  }

  // Something of its owner's while a call is under way; not within another such thing.
  void happen() {
    if (!happening_) return;
    const std::function<void()> happening = std::exchange(happening_, nullptr);
    happening();
    happening_ = happening;
  }

  void count_events() {
    for (const KeeperEvent& event : state_.take_events()) {
      expirations_ += event.type == KeeperEventType::expired ? 1 : 0;
    }
  }

  RandomFromRapidCheck random_;
  KeeperState state_{as_ann(), random_};
  ToyStore store_;
  Skewed<LocalTime> local_;
  Skewed<Time> store_clock_;
  True patience_;
  True now_{0};
  True last_call_{-1};
  bool unreachable_ = false;
  bool lossy_ = false;
  std::set<LeaseId> forced_;
  std::function<void()> happening_;
  std::size_t expirations_ = 0;
  std::size_t checks_ = 0;
};

std::string some_path() { return std::string("/") + *rc::gen::element('a', 'b', 'c'); }
Duration some_ttl() { return *rc::gen::element(Duration(1s), Duration(10s), Duration(60s), Duration(5min)); }
True up_to(True most) { return True(*rc::gen::inRange<std::int64_t>(1, most.count())); }

std::optional<LeaseId> some_kept(World& world) {
  const std::vector<Lease> kept = world.state().kept();
  if (kept.empty()) return std::nullopt;
  return kept[*rc::gen::inRange<std::size_t>(0, kept.size())].id;
}

void something(World& world) {
  switch (*rc::gen::inRange(0, 12)) {
    case 0:
    case 1:
      world.acquire({some_path()}, some_ttl());
      break;
    case 2:
      world.acquire({"/a", "/b", "/c"}, some_ttl());
      break;
    case 3:
      if (const auto id = some_kept(world)) {
        world.release(*id);
      }
      break;
    case 4:
      if (const auto id = some_kept(world)) world.forbid(*id);
      break;
    case 5:
      world.store().take(some_path());
      break;
    case 6:
      world.store().give_back(some_path());
      break;
    case 7:
      world.be_unreachable(*rc::gen::arbitrary<bool>());
      break;
    case 8:
      world.pass(up_to(10min));  // Suspended, or its thread gets no time.
      break;
    case 9:
      world.be_lossy(*rc::gen::arbitrary<bool>());
      break;
    default:
      world.run(up_to(*rc::gen::element(True(1s), True(30s), True(10min))));
  }
}

RC_GTEST_PROP(Keeping, IsNeverBelievedLongerThanItIsTrue, ()) {
  const int local = *rc::gen::inRange(990, 1011);
  const int store = *rc::gen::inRange(990, 1011);
  World world(local, store, *rc::gen::element(True(1ms), True(1s), True(30s), True(6min)));
  // While a call is under way, the owner may get, or give up, the very same leases.
  world.during_calls([&] {
    const int what = *rc::gen::inRange(0, 10);
    if (what == 0) world.acquire({some_path()}, some_ttl());
    if (what != 1) return;
    if (const auto id = some_kept(world)) {
      world.release(*id);
    }
  });
  world.acquire({"/a", "/b"}, some_ttl());
  const int length = *rc::gen::inRange(1, 40);
  for (int i = 0; i < length; ++i) something(world);
  world.pass(1h);
  RC_TAG(world.checks() > 20 ? "many checks" : "few checks");
}

// The other half: a store that answers in a tenth of the TTL never lets a lease go by.
RC_GTEST_PROP(Keeping, GoesOnAsLongAsTheStoreAnswers, ()) {
  const int local = *rc::gen::inRange(990, 1011);
  const int store = *rc::gen::inRange(990, 1011);
  const Duration ttl = some_ttl();
  World world(local, store, True(ttl) / 20);
  world.acquire({"/a"}, ttl);
  world.acquire({"/b", "/c"}, ttl * 3);
  for (int i = 0; i < 20; ++i) world.run(True(ttl));
  RC_ASSERT(world.expirations() == 0U);
  RC_ASSERT(world.state().kept().size() == 3U);
}

// And what was lost to an outage is back when the store is.
RC_GTEST_PROP(Keeping, ComesBackAfterAnOutage, ()) {
  World world(*rc::gen::inRange(990, 1011), *rc::gen::inRange(990, 1011), 10ms);
  const Duration ttl = some_ttl();
  world.acquire({"/a"}, ttl);
  world.acquire({"/b", "/c"}, ttl);
  world.run(up_to(True(ttl)));

  world.be_unreachable(true);
  world.run(up_to(True(ttl) * 5));
  world.be_unreachable(false);
  world.run(True(ttl) / 2 + 2s);  // One pause between two tries, and the few calls it takes.

  for (const char* path : {"/a", "/b", "/c"}) {
    RC_ASSERT(world.state().use(path, Mode::exclusive, world.local_now()).has_value());
  }
}

}  // namespace
}  // namespace leasehold
