#include "keeper/keeper_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/scope.h"

namespace leasehold {
namespace {

WantedPath wanted(const Lease& lease) {
  return {.path = lease.path,
          .subtree = lease.subtree,
          .requested = lease.requested,
          .paired_with = lease.paired_with,
          .rule = lease.rule};
}

}  // namespace

KeeperState::KeeperState(Caller caller, Random& random, bool recovers)
    : caller_(std::move(caller)), recovers_(recovers), random_(random) {}

// --- What is kept

KeeperState::Kept* KeeperState::find(const LeaseId& id) {
  const auto place = leases_.find(id);
  return place == leases_.end() ? nullptr : &place->second;
}

KeeperState::Kept& KeeperState::keep(const Lease& lease, std::shared_ptr<const AcquireRequest> request) {
  Kept& kept = leases_[lease.id];
  if (kept.lease.id.text.empty()) kept.lease = lease;
  kept.request = std::move(request);
  by_path_[lease.path].insert(lease.id);
  return kept;
}

KeeperState::Leases::iterator KeeperState::drop(Leases::iterator place) {
  const auto there = by_path_.find(place->second.lease.path);
  there->second.erase(place->first);
  if (there->second.empty()) by_path_.erase(there);
  return leases_.erase(place);
}

void KeeperState::drop(const LeaseId& id) {
  if (const auto place = leases_.find(id); place != leases_.end()) drop(place);
}

// The others of the same owner on the same thing. There may be some that are over, or about to be.
std::vector<LeaseId> KeeperState::beside(const Lease& lease) const {
  std::vector<LeaseId> ids;
  const auto there = by_path_.find(lease.path);
  if (there == by_path_.end()) return ids;
  for (const LeaseId& id : there->second) {
    const Lease& other = leases_.at(id).lease;
    if (id != lease.id && other.scope() == lease.scope() && other.holder.owner == lease.holder.owner) {
      ids.push_back(id);
    }
  }
  return ids;
}

// Its owner got the path again by itself: what was kept there and is not held needs no recovery.
void KeeperState::drop_superseded(const Lease& lease) {
  for (const LeaseId& id : beside(lease)) {
    const Kept& other = leases_.at(id);
    if (other.stage != Stage::held || other.told == Told::over) drop(id);
  }
}

bool KeeperState::is_superseded(const Lease& lease) const {
  return std::ranges::any_of(beside(lease), [&](const LeaseId& id) {
    const Kept& other = leases_.at(id);
    return other.stage == Stage::gone || (other.stage == Stage::held && other.told != Told::over);
  });
}

void KeeperState::add(const AcquireRequest& request, const Granted& granted,
                      std::optional<LocalTime> asked_at, LocalTime now) {
  auto again = std::make_shared<AcquireRequest>(request);
  again->paths.clear();
  again->wait.reset();
  again->idempotency_key.clear();  // It stands for the grant that was.
  for (const Lease& lease : granted.leases) {
    drop_superseded(lease);
    Kept& kept = keep(lease, again);
    kept.stage = Stage::held;
    kept.ending.reset();
    if (asked_at && !granted.replayed) {
      refresh(kept, lease, {*asked_at, now});
      kept.renew_at -= used_up(lease);  // A lease acquired again by its holder may be half gone.
    }
    if (kept.valid_until <= now) kept.renew_at = now;
  }
}

void KeeperState::remove(const std::vector<LeaseId>& ids) {
  std::set<std::string> paths;
  for (const LeaseId& id : ids) {
    if (const Kept* kept = find(id)) paths.insert(kept->lease.path);
    drop(id);
  }
  if (paths.empty()) return;
  // What pairing added ends with the last of its sources.
  for (auto place = leases_.begin(); place != leases_.end();) {
    const Lease& lease = place->second.lease;
    const auto was_here = [&](const std::string& source) { return paths.contains(source); };
    const auto is_here = [&](const std::string& source) { return is_kept(source); };
    const bool goes = !lease.requested && std::ranges::any_of(lease.paired_with, was_here) &&
                      std::ranges::none_of(lease.paired_with, is_here);
    place = goes ? drop(place) : std::next(place);
  }
}

LocalDuration KeeperState::left(const LeaseId& id, LocalTime now) const {
  const auto place = leases_.find(id);
  if (place == leases_.end() || place->second.stage != Stage::held) return {};
  const LocalTime until = place->second.valid_until;
  return until > now ? until - now : LocalDuration::zero();
}

Result<Token> KeeperState::use(const std::string& path, Mode needed, LocalTime now) const {
  std::vector<std::string> places = ancestors(path);
  places.push_back(path);
  std::optional<Token> best;
  bool known = false;
  for (const std::string& place : places) {
    const auto there = by_path_.find(place);
    if (there == by_path_.end()) continue;
    for (const LeaseId& id : there->second) {
      const Lease& lease = leases_.at(id).lease;
      if (!covers(lease.scope(), {path, false})) continue;
      if (needed == Mode::exclusive && lease.mode != Mode::exclusive) continue;
      known = true;
      if (is_valid(id, now)) best = best ? std::max(*best, lease.token) : lease.token;
    }
  }
  if (best) return *best;
  if (known) {
    return fail(Code::lost,
                fmt::format("The lease on {} could not be renewed in time, or is over. Do not act "
                            "on it; the keeper tries to get it back.",
                            path));
  }
  return fail(Code::not_found,
              fmt::format("No {} lease on {} is kept here. Acquire it first.",
                          needed == Mode::exclusive ? "exclusive" : "shared or exclusive", path));
}

std::vector<Lease> KeeperState::kept() const {
  std::vector<Lease> all;
  for (const auto& [id, kept] : leases_) all.push_back(kept.lease);
  return all;
}

// --- What to do next

Duration KeeperState::shortest_ttl() const {
  Duration shortest = std::chrono::minutes(5);
  for (const auto& [id, kept] : leases_) shortest = std::min(shortest, kept.lease.ttl);
  return shortest;
}

Step KeeperState::next(LocalTime now) {
  expire(now);
  if (!unwanted_.empty()) {
    ReleaseCall call = {.request = {.caller = caller_}};
    call.request.which.ids = std::exchange(unwanted_, {});
    return call;
  }
  if (leases_.empty()) return Wait{LocalTime::max()};
  if (now < retry_at_) return Wait{retry_at_};
  if (auto call = renewal(now)) return *std::move(call);
  // Before any recovery: what was one grant is acquired together, so all of it has to be clear.
  if (auto call = look()) return *std::move(call);
  if (auto call = recovery()) return *std::move(call);
  LocalTime until = LocalTime::max();
  for (const auto& [id, kept] : leases_) {
    if (is_renewable(kept)) until = std::min(until, kept.renew_at);
  }
  return Wait{until};
}

std::optional<RenewCall> KeeperState::renewal(LocalTime now) const {
  std::vector<const Kept*> batch;
  bool is_due = false;
  bool is_all = true;
  for (const auto& [id, kept] : leases_) {
    if (kept.stage != Stage::held) continue;
    if (kept.ending || now < std::min(kept.renew_from, kept.renew_at)) {
      is_all = false;
      continue;
    }
    is_due |= kept.renew_at <= now;
    batch.push_back(&kept);
  }
  if (!is_due) return std::nullopt;

  RenewCall call = {.request = {.caller = caller_}};
  call.request.which.all = is_all && !by_id_;
  if (!call.request.which.all && batch.size() > names_max_) {
    std::ranges::stable_sort(batch, {}, &Kept::renew_at);
    batch.resize(names_max_);
  }
  for (const Kept* kept : batch) call.ids.push_back(kept->lease.id);
  if (!call.request.which.all) call.request.which.ids = call.ids;
  return call;
}

std::optional<LookCall> KeeperState::look() const {
  for (const auto& [id, kept] : leases_) {
    if (kept.stage == Stage::unclear) return LookCall{id};
  }
  return std::nullopt;
}

// Everything that went with the first one that is gone: the same grant, the same mode.
std::optional<AcquireCall> KeeperState::recovery() const {
  const Kept* first = nullptr;
  AcquireCall call;
  for (const auto& [id, kept] : leases_) {
    if (kept.stage != Stage::gone) continue;
    if (first == nullptr) {
      first = &kept;
      call.request = *kept.request;
      call.request.mode = kept.lease.mode;
      call.request.ttl = kept.lease.ttl;
    }
    if (kept.lease.group_id != first->lease.group_id || kept.lease.mode != first->lease.mode) continue;
    call.request.ttl = std::max(*call.request.ttl, kept.lease.ttl);
    call.request.paths.push_back(wanted(kept.lease));
    call.ids.push_back(id);
  }
  return first == nullptr ? std::nullopt : std::optional(std::move(call));
}

std::optional<RenewCall> KeeperState::claim(const std::vector<LeaseId>& ids, LocalTime now) {
  RenewCall call = {.request = {.caller = caller_}};
  for (const LeaseId& id : ids) {
    Kept* kept = find(id);
    if (kept == nullptr || !is_renewable(*kept) || kept->renew_at > now) continue;
    if (call.ids.size() == names_max_) break;
    call.ids.push_back(id);
    renew_soon(*kept, now);
  }
  call.request.which.ids = call.ids;
  return call.ids.empty() ? std::nullopt : std::optional(std::move(call));
}

void KeeperState::expire(LocalTime now) {
  for (auto place = leases_.begin(); place != leases_.end();) {
    Kept& kept = place->second;
    if (kept.stage != Stage::held || kept.told != Told::valid || now < kept.valid_until) {
      ++place;
      continue;
    }
    kept.told = Told::over;
    // The store may know better, and surely knows why.
    kept.renew_at = std::min(kept.renew_at, now);
    const Error late = {Code::lost, "No answer to a renewal came in time."};
    tell(KeeperEventType::expired, kept, kept.ending ? *kept.ending : last_miss_.value_or(late));
    // Its limit was meant to end it; acquiring it again would go round that.
    place = kept.ending ? drop(place) : std::next(place);
  }
}

LocalTime KeeperState::next_expiry() const {
  LocalTime next = LocalTime::max();
  for (const auto& [id, kept] : leases_) {
    if (kept.stage == Stage::held && kept.told == Told::valid) next = std::min(next, kept.valid_until);
  }
  return next;
}

// --- What to tell

void KeeperState::tell(KeeperEventType type, const Kept& kept, std::optional<Error> error, EndCause cause) {
  events_.push_back({.type = type,
                     .lease = kept.lease,
                     .previous = type == KeeperEventType::recovered ? kept.previous : LeaseId{},
                     .cause = cause,
                     .error = std::move(error)});
}

void KeeperState::pass_on(const std::vector<Notice>& notices) {
  for (const Notice& notice : notices) {
    events_.push_back({.type = KeeperEventType::noticed, .notice = notice});
  }
}

std::vector<KeeperEvent> KeeperState::take_events() { return std::exchange(events_, {}); }

std::string_view word(KeeperEventType type) {
  switch (type) {
    case KeeperEventType::renewed:
      return "renewed";
    case KeeperEventType::missed:
      return "missed";
    case KeeperEventType::ending:
      return "ending";
    case KeeperEventType::expired:
      return "expired";
    case KeeperEventType::lost:
      return "lost";
    case KeeperEventType::recovered:
      return "recovered";
    case KeeperEventType::could_not_recover:
      return "could_not_recover";
    case KeeperEventType::noticed:
      return "noticed";
  }
  return "unknown";
}

}  // namespace leasehold
