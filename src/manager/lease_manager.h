// Runs the engine's decisions as transactions on a store.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "engine/context.h"
#include "engine/sweep.h"
#include "env/liveness.h"
#include "leasehold/client.h"
#include "leasehold/log.h"
#include "manager/rooms.h"
#include "store/store.h"

namespace leasehold {

// Everything the world decides for us. Outlives the manager.
struct Environment {
  LivenessProbe& liveness;
  Random& random;
};

struct ManagerOptions {
  // Given: the policy is what it makes of the store's settings, read again every few seconds; and acquires
  // clean up by the way. Else it is the manager's own for good.
  std::shared_ptr<Configuration> configuration;
  bool cleans_up = true;         // False: somebody else does, and acquires never.
  LogSink log;                   // Empty: nothing is logged.
  std::shared_ptr<Rooms> rooms;  // Of the process; nothing: of this manager alone.
  // Who waits here, where a request does not say. Empty: nobody that others could look for.
  std::function<std::optional<Process>()> own_process;
  // Whether those who wait have to wait on now, whatever becomes free. Empty: never.
  std::function<bool()> withholds;
};

// The client that works on a store of its own process. The contract of each call is Client's.
class LeaseManager final : public Client {
 public:
  // What the environment refers to and the store must outlive the manager.
  LeaseManager(Environment environment, Store& store, std::string workspace, Policy policy,
               ManagerOptions options = {});

  Result<AcquireAnswer> acquire(const AcquireRequest& request) override;

  // Once queued, a store that cannot be reached is asked again until the time to wait is over; only then is
  // that the answer. So is outcome_unknown, which leaves nothing behind if the store comes back.
  Result<AcquireAnswer> acquire_and_wait(const AcquireRequest& request, int cancelled = -1) override;

  Result<AcquireAnswer> poll(const Caller& caller, const GroupId& ticket) override;
  Result<void> cancel(const Caller& caller, const GroupId& ticket) override;

  Result<AcquireAnswer> upgrade(const AcquireRequest& request) override;
  Result<Outcomes> downgrade(const ReleaseRequest& request) override;
  Result<Outcomes> renew(const RenewRequest& request) override;
  Result<Outcomes> release(const ReleaseRequest& request) override;
  Result<Outcomes> transfer(const TransferRequest& request) override;
  Result<Outcomes> force_release(const ForceReleaseRequest& request) override;
  Result<CheckAnswer> check(const Caller& caller, const std::string& path, Token token) override;
  // The same for those who only look: what the caller has yet to be told is left for it.
  Result<CheckAnswer> peek(const Caller& caller, const std::string& path, Token token);

  Result<GateAnswer> gate(const GateRequest& request) override;
  Result<GateAnswer> gate_and_wait(const GateRequest& request, Duration at_most,
                                   const std::function<void(const GateAnswer&)>& denied = {},
                                   int cancelled = -1) override;
  Result<Blockers> blockers() override;
  Result<Contention> instruct(const InstructRequest& request) override;
  Result<Outcomes> end_session(const Caller& caller) override;
  // The same for one of its agents alone.
  Result<Outcomes> leave_session(const Caller& caller);
  Result<SessionPaths> session_paths(const std::string& session_id) override;

  Result<std::size_t> turn_started(const Holder& holder) override;
  Result<std::size_t> turn_stopped(const Holder& holder) override;

  Result<Lease> lease(const LeaseId& id) override;
  Result<Board> board(const Listing& listing = {}) override;
  Result<std::vector<Event>> history(const HistoryQuery& query) override;
  Result<std::vector<Event>> events(std::uint64_t after, Duration wait = {}, int cancelled = -1) override;

  Result<Swept> sweep(bool dead_owners = false) override;
  Result<Swept> cleanup() override;
  Result<std::vector<Setting>> settings() override;
  Result<void> put_setting(const Setting& setting) override;
  Result<void> erase_setting(const std::string& stored_key) override;

  // Upgrades this lease of the caller's and no other; with a token only if it still has that one. Errors:
  // those of a call about one lease (not_found, not_owner, lost, transferred, stale_token), and upgrade()'s.
  Result<AcquireAnswer> upgrade_one(const Caller& caller, const LeaseId& id,
                                    const std::optional<Token>& token);

  // Forgets what ended long ago, some of it at a time: leases and tickets after an hour, history after
  // `history_life`. True: there may be more.
  Result<bool> forget_some(Duration history_life, Swept& total);

  // What these have, or wait for, and seems to be over: one of their processes has died. Of everybody if none
  // is named. Errors: those of the store.
  Result<Suspects> suspects(const std::set<Owner>& owners);
  // Ends those of them that are over, at once. Errors: those of the store.
  Result<Swept> reclaim(const Suspects& some);

  // One step of sweep(), for those who must not keep others from the store for long: looks at no more than
  // `limit` leases and waiting requests. True: there may be more.
  Result<bool> sweep_some(std::size_t limit, Swept& total);

  // The policy as it is now.
  std::shared_ptr<const Policy> policy();

  Rooms& rooms() { return *rooms_; }

 private:
  friend class GateWaiter;
  friend class Waiter;

  // Releases, and forgets what the gate remembers of those.
  Result<Outcomes> end_all(const ReleaseRequest& request, const Filter& denied);
  Result<void> sweep_dead(Swept& total);
  Result<Swept> sweep_these(const Suspects& some);

  // Whether it waits on, and nothing else is to be told. For who stands far behind; see engine/acquire.h.
  bool waits_on(const Caller& caller, const GroupId& ticket);
  // The grant of a request that waits, if it can be told without writing.
  std::optional<AcquireAnswer> glance(const Caller& caller, const GroupId& ticket);

  template <class Answer, class Begin, class Decide>
  Result<Answer> run(const Begin& begin, const Caller* caller, const Decide& decide);
  template <class Answer, class Decide>
  Result<Answer> change(const Footprint& footprint, const Caller* caller, const Decide& decide);
  template <class Answer, class Decide>
  Result<Answer> look(const Footprint& footprint, const Decide& decide, const Caller* caller = nullptr);
  Result<CheckAnswer> look_at_token(const Caller& caller, const std::string& path, Token token,
                                    bool& has_notices);
  GroupId new_group();
  void load_settings();
  void note_left_out_history(Transaction& transaction);
  void clean_up_if_due();
  Result<bool> claim_cleanup(const Policy& policy);

  // A busy room's answer, before the store is touched.
  std::optional<AcquireAnswer> refused_by_room(const AcquireRequest& request) const;
  Result<AcquireAnswer> attempt(const AcquireRequest& request, const GroupId& group, bool is_retry);
  Error as_lock_error(const AcquireRequest& request, const GroupId& group, const Error& error);
  // Undoes an attempt that may have been granted or queued.
  Result<bool> take_back(const AcquireRequest& request, const GroupId& group);
  Footprint footprint_to_acquire(const AcquireRequest& request);

  Environment environment_;
  Store& store_;
  const std::string workspace_;
  const ManagerOptions options_;
  const std::shared_ptr<Rooms> rooms_;

  // History is not kept, and the store does not say yet that some is missing.
  std::atomic<bool> leaves_out_history_ = false;

  std::mutex policy_mutex_;  // Guards what follows. Never held while the store is asked.
  std::shared_ptr<const Policy> policy_;
  bool settings_known_ = false;                         // They were read once.
  std::chrono::steady_clock::time_point policy_until_;  // Then the settings are read again.
  std::chrono::steady_clock::time_point next_cleanup_;
};

}  // namespace leasehold
