// A client that answers as a test says: at once, with an error, or not before it is let.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "leasehold/client.h"
#include "support/manual_clock.h"
#include "support/records.h"

namespace leasehold {

// Far more than anything here takes; a test that waits this long has failed.
inline constexpr auto kFarTooLong = std::chrono::seconds(60);

// A door that is open until somebody shuts it. Thread-safe.
class Door {
 public:
  void shut() { set(false); }
  void open() { set(true); }

  // Waits until it is open; gives up after far too long.
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait_for(lock, kFarTooLong, [&] { return open_; });
    --waiting_;
  }

  // Waits until somebody waits at it; false: nobody came.
  bool is_waited_at() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kFarTooLong, [&] { return waiting_ > 0; });
  }

 private:
  void set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
};

// Keeps no records: every lease is renewed unless it was ended, and every acquire is granted unless somebody
// else is said to be there. Thread-safe.
class ScriptedClient final : public Client {
 public:
  explicit ScriptedClient(std::atomic<int>* alive = nullptr) : alive_(alive) {
    if (alive_ != nullptr) ++*alive_;
  }
  ~ScriptedClient() override {
    if (alive_ != nullptr) --*alive_;
  }

  // Every call passes it, before it does anything.
  Door door;

  void be_unreachable(bool unreachable) { unreachable_ = unreachable; }

  void end(const Lease& lease, EndCause cause) {
    const std::lock_guard lock(mutex_);
    Lease over = lease;
    over.status = Status::released;
    over.ended_by = cause;
    ended_.push_back(over);
  }

  void let_somebody_have(const std::string& path) {
    const std::lock_guard lock(mutex_);
    taken_.push_back(path);
  }

  int renewals() const { return renewals_; }
  std::vector<std::string> released() {
    const std::lock_guard lock(mutex_);
    return released_;
  }

  Result<AcquireAnswer> acquire(const AcquireRequest& request) override {
    door.pass();
    if (unreachable_) return not_reached();
    const std::lock_guard lock(mutex_);
    Granted granted = {.group_id = group_id(++number_)};
    for (const WantedPath& wanted : request.paths) {
      if (std::ranges::find(taken_, wanted.path) != taken_.end()) {
        Blocked blocked = {.path = wanted.path, .held_path = wanted.path};
        blocked.holder.owner = bob();
        return AcquireAnswer{Refused{Code::busy, "bob has it", {blocked}}, {}};
      }
      Lease lease = make_lease(++number_, wanted.path);
      lease.subtree = wanted.subtree;
      lease.mode = request.mode;
      lease.ttl = request.ttl.value_or(lease.ttl);
      lease.token = {static_cast<std::uint64_t>(number_)};
      lease.group_id = granted.group_id;
      granted.leases.push_back(fresh(lease));
      leases_.push_back(lease);
    }
    return AcquireAnswer{std::move(granted), {}};
  }

  Result<AcquireAnswer> acquire_and_wait(const AcquireRequest& request, int /*cancelled*/) override {
    return acquire(request);
  }

  Result<Outcomes> renew(const RenewRequest& request) override {
    ++renewals_;
    door.pass();
    if (unreachable_) return not_reached();
    const std::lock_guard lock(mutex_);
    Outcomes answer;
    for (const Lease& lease : leases_) {
      const auto& ids = request.which.ids;
      if (!request.which.all && std::ranges::find(ids, lease.id) == ids.end()) continue;
      const auto over = std::ranges::find(ended_, lease.id, &Lease::id);
      if (over == ended_.end()) {
        answer.outcomes.push_back({.path = lease.path, .lease = fresh(lease)});
      } else if (!request.which.all) {
        answer.outcomes.push_back({.path = lease.path, .lease = *over, .error = Error{Code::lost, "over"}});
      }
    }
    return answer;
  }

  Result<Outcomes> release(const ReleaseRequest& request) override {
    door.pass();
    const std::lock_guard lock(mutex_);
    for (const LeaseId& id : request.which.ids) {
      released_.push_back(id.text);
      std::erase_if(leases_, [&](const Lease& lease) { return lease.id == id; });
    }
    return Outcomes{};
  }

  Result<Lease> lease(const LeaseId& id) override {
    door.pass();
    if (unreachable_) return not_reached();
    const std::lock_guard lock(mutex_);
    const auto over = std::ranges::find(ended_, id, &Lease::id);
    if (over != ended_.end()) return *over;
    return fail(Code::not_found, "There is none.");
  }

  Result<AcquireAnswer> poll(const Caller&, const GroupId&) override { return unexpected(); }
  Result<void> cancel(const Caller&, const GroupId&) override { return unexpected(); }
  Result<AcquireAnswer> upgrade(const AcquireRequest&) override { return unexpected(); }
  Result<Outcomes> downgrade(const ReleaseRequest&) override { return unexpected(); }
  Result<Outcomes> transfer(const TransferRequest&) override { return unexpected(); }
  Result<Outcomes> force_release(const ForceReleaseRequest&) override { return unexpected(); }
  Result<CheckAnswer> check(const Caller&, const std::string&, Token) override { return unexpected(); }
  Result<GateAnswer> gate(const GateRequest&) override { return unexpected(); }
  Result<GateAnswer> gate_and_wait(const GateRequest&, Duration,
                                   const std::function<void(const GateAnswer&)>&, int) override {
    return unexpected();
  }
  Result<Blockers> blockers() override { return unexpected(); }
  Result<Contention> instruct(const InstructRequest&) override { return unexpected(); }
  Result<Outcomes> end_session(const Caller&) override { return unexpected(); }
  Result<SessionPaths> session_paths(const std::string&) override { return unexpected(); }
  Result<std::size_t> turn_started(const Holder&) override { return unexpected(); }
  Result<std::size_t> turn_stopped(const Holder&) override { return unexpected(); }
  Result<Board> board(const Listing&) override { return unexpected(); }
  Result<std::vector<Event>> history(const HistoryQuery&) override { return unexpected(); }
  Result<std::vector<Event>> events(std::uint64_t, Duration, int) override { return unexpected(); }
  Result<Swept> sweep(bool) override { return unexpected(); }
  Result<Swept> cleanup() override { return unexpected(); }
  Result<std::vector<Setting>> settings() override { return unexpected(); }
  Result<void> put_setting(const Setting&) override { return unexpected(); }
  Result<void> erase_setting(const std::string&) override { return unexpected(); }

 private:
  static Lease fresh(Lease lease) {
    lease.last_heartbeat_at = ManualClock::kStart;
    lease.expires_at = ManualClock::kStart + lease.ttl;
    return lease;
  }
  static std::unexpected<Error> not_reached() { return fail(Code::unavailable, "The store is away."); }
  static std::unexpected<Error> unexpected() { return fail(Code::corrupt, "A keeper does not ask this."); }

  std::atomic<int>* alive_;
  std::atomic<bool> unreachable_ = false;
  std::atomic<int> renewals_ = 0;
  std::mutex mutex_;
  int number_ = 0;
  std::vector<Lease> leases_;
  std::vector<Lease> ended_;
  std::vector<std::string> taken_;
  std::vector<std::string> released_;
};

}  // namespace leasehold
