#pragma once

#include "manager/lease_manager.h"

namespace leasehold::simulation {

// What clients talk to: a LeaseManager, whose calls a planted bug can change.
class Service {
 public:
  Service(Environment environment, Store& store, const std::string& workspace, const Policy& policy)
      : manager_(environment, store, workspace, policy) {}
  virtual ~Service() = default;

  virtual Result<AcquireAnswer> acquire(const AcquireRequest& request) { return manager_.acquire(request); }
  virtual Result<AcquireAnswer> upgrade(const AcquireRequest& request) { return manager_.upgrade(request); }
  virtual Result<AcquireAnswer> poll(const Caller& caller, const GroupId& ticket) {
    return manager_.poll(caller, ticket);
  }
  virtual Result<void> cancel(const Caller& caller, const GroupId& ticket) {
    return manager_.cancel(caller, ticket);
  }
  virtual Result<Outcomes> downgrade(const ReleaseRequest& request) { return manager_.downgrade(request); }
  virtual Result<Outcomes> renew(const RenewRequest& request) { return manager_.renew(request); }
  virtual Result<Outcomes> release(const ReleaseRequest& request) { return manager_.release(request); }
  virtual Result<Outcomes> transfer(const TransferRequest& request) { return manager_.transfer(request); }
  virtual Result<Outcomes> force_release(const ForceReleaseRequest& request) {
    return manager_.force_release(request);
  }
  virtual Result<CheckAnswer> check(const Caller& caller, const std::string& path, Token token) {
    return manager_.check(caller, path, token);
  }
  virtual Result<GateAnswer> gate(const GateRequest& request) { return manager_.gate(request); }
  virtual Result<Contention> instruct(const InstructRequest& request) { return manager_.instruct(request); }
  virtual Result<Outcomes> end_session(const Caller& caller) { return manager_.end_session(caller); }
  virtual Result<std::size_t> turn_started(const Holder& holder) { return manager_.turn_started(holder); }
  virtual Result<std::size_t> turn_stopped(const Holder& holder) { return manager_.turn_stopped(holder); }
  virtual Result<Swept> sweep(bool dead_owners) { return manager_.sweep(dead_owners); }
  virtual Result<std::size_t> forget(Duration history_life) {
    Swept swept;
    const auto done = manager_.forget_some(history_life, swept);
    if (!done) return fail(done.error());
    return swept.forgotten;
  }

 protected:
  LeaseManager& manager() { return manager_; }

 private:
  LeaseManager manager_;
};

}  // namespace leasehold::simulation
