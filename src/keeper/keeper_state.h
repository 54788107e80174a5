// What a keeper knows, and what it does next. No thread, no clock, no client: it is told the time and the
// answers, and says which call to make, until when to wait, and what to tell.
//
// A kept lease is
//   held      the store had it when last heard of; it is valid until its local deadline
//   unclear   the store did not answer for it: to be looked up
//   gone      its time ran out, or the store forgot it: to be acquired again
// and leaves the keeper when it is removed, lost for good, or cannot be had back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "keeper/pace.h"
#include "leasehold/keeper.h"
#include "util/random.h"

namespace leasehold {

// When a call was made and when its answer came.
struct Exchange {
  LocalTime asked_at;
  LocalTime answered_at;
};

// What to do next.
struct Wait {
  LocalTime until;  // LocalTime::max(): until something is added.
};
struct RenewCall {
  RenewRequest request;
  std::vector<LeaseId> ids;  // What it is about, also if the request says `all`.
};
struct LookCall {
  LeaseId id;
};
struct AcquireCall {
  AcquireRequest request;
  std::vector<LeaseId> ids;  // What each path of the request was held by.
};
// Of what was acquired again for somebody who has removed it meanwhile. Its answer changes nothing.
struct ReleaseCall {
  ReleaseRequest request;
};
using Step = std::variant<Wait, RenewCall, LookCall, AcquireCall, ReleaseCall>;

class KeeperState {
 public:
  // `recovers` as in KeeperOptions.
  KeeperState(Caller caller, Random& random, bool recovers = true);

  // As in Keeper.
  void add(const AcquireRequest& request, const Granted& granted, std::optional<LocalTime> asked_at,
           LocalTime now);
  void remove(const std::vector<LeaseId>& ids);
  bool is_valid(const LeaseId& id, LocalTime now) const { return left(id, now) > LocalDuration::zero(); }
  LocalDuration left(const LeaseId& id, LocalTime now) const;  // Never negative.
  Result<Token> use(const std::string& path, Mode needed, LocalTime now) const;
  std::vector<Lease> kept() const;

  // The call to make now, or until when there is none. To be followed by answered() before the next one.
  Step next(LocalTime now);
  void answered(const RenewCall& call, const Result<Outcomes>& answer, const Exchange& times);
  void answered(const LookCall& call, const Result<Lease>& answer, const Exchange& times);
  void answered(const AcquireCall& call, const Result<AcquireAnswer>& answer, const Exchange& times);

  // A renewal of those of `ids` that are due, to be made by whoever asks here, besides next(); nothing if
  // none is. next() leaves them alone for as long as a failed call would be left alone.
  std::optional<RenewCall> claim(const std::vector<LeaseId>& ids, LocalTime now);

  // Notes whose deadline has passed. The deadline counts without this; it is for the events.
  void expire(LocalTime now);
  LocalTime next_expiry() const;

  std::vector<KeeperEvent> take_events();

 private:
  enum class Stage { held, unclear, gone };
  // What its owner was told.
  enum class Told { nothing, valid, over };

  struct Kept {
    Lease lease;
    std::shared_ptr<const AcquireRequest> request;
    Stage stage = Stage::held;
    Told told = Told::nothing;
    LocalTime asked_at = LocalTime::min();  // Of the newest answer.
    LocalTime heard_at = LocalTime::min();
    LocalTime valid_until = LocalTime::min();
    LocalTime renew_at = LocalTime::min();    // Due then,
    LocalTime renew_from = LocalTime::min();  // and from then on along with others.
    std::optional<Error> ending;              // Cannot be renewed any more; why.
    LeaseId previous;                         // What it was before it was acquired again.
  };
  using Leases = std::map<LeaseId, Kept>;

  static bool is_renewable(const Kept& kept) { return kept.stage == Stage::held && !kept.ending; }
  Kept* find(const LeaseId& id);
  Kept& keep(const Lease& lease, std::shared_ptr<const AcquireRequest> request);
  Leases::iterator drop(Leases::iterator place);
  void drop(const LeaseId& id);
  std::vector<LeaseId> beside(const Lease& lease) const;
  void drop_superseded(const Lease& lease);
  bool is_superseded(const Lease& lease) const;
  bool is_kept(const std::string& path) const { return by_path_.contains(path); }

  std::optional<RenewCall> renewal(LocalTime now) const;
  std::optional<LookCall> look() const;
  std::optional<AcquireCall> recovery() const;
  Duration shortest_ttl() const;

  void refresh(Kept& kept, const Lease& lease, const Exchange& times);
  void refused(Kept& kept, const Outcome& outcome, const std::vector<Notice>& notices, LocalTime now);
  // It is over, because of `cause` (none: nobody knows).
  void over(Kept& kept, EndCause cause, const Error& error);
  void recovered(const LeaseId& old, const std::vector<Lease>& granted, const Exchange& times);
  void give_back_what_was_removed(const Granted& granted);
  void unrecoverable(const std::vector<LeaseId>& ids, const Error& error,
                     const std::vector<Blocked>& blocked);
  void look_for_strangers(const std::set<LeaseId>& renewed);
  void renew_soon(Kept& kept, LocalTime now);
  void reached();
  void missed(const Error& error, LocalTime now);
  bool may_ask_for_less(const RenewCall& call);
  void tell(KeeperEventType type, const Kept& kept, std::optional<Error> error = std::nullopt,
            EndCause cause = EndCause::none);
  void pass_on(const std::vector<Notice>& notices);

  const Caller caller_;
  const bool recovers_;
  Random& random_;
  Leases leases_;
  std::map<std::string, std::set<LeaseId>> by_path_;
  std::vector<KeeperEvent> events_;
  std::vector<LeaseId> unwanted_;  // To be released.

  std::size_t misses_ = 0;
  std::optional<Error> last_miss_;
  LocalTime retry_at_ = LocalTime::min();

  // One call that renews all leases of the owner is one line of history, so that is preferred. But if the
  // owner has others, which this keeper was not asked to keep, they must not be kept alive by it. One lease
  // that is seen twice without being kept is not just about to be added or released: from then on, leases are
  // named one by one.
  bool by_id_ = false;
  std::set<LeaseId> strangers_;
  std::size_t names_max_ = 1'000;  // In one call. The usual limit; halved where a store allows less.
};

}  // namespace leasehold
