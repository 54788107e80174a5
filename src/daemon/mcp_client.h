// The client of one call of a tool, which runs on a thread that must not wait.
//
// The call is made twice. The first time, what it wants changed is only taken down, and the error it gets is
// seen by nobody. The loop of events has that done in steps, however long it takes. The second time the
// answer is there. What only reads is answered at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "daemon/message.h"
#include "daemon/services.h"
#include "daemon/waiting.h"
#include "manager/gate_waiter.h"
#include "manager/waiter.h"

namespace leasehold::daemon {

class McpClient final : public Client {
 public:
  struct Options {
    Services& services;
    LeaseManager& manager;
    Principal principal;
    bool is_somebody = false;  // The owner is one of its own even without a session.
    std::string withheld;      // Why nothing may be granted; empty: it may.
  };
  explicit McpClient(Options options) : options_(std::move(options)) {}

  // Nothing: the call wants nothing done, and its first answer is the answer.
  const std::optional<Steps>& steps() const { return steps_; }

  Result<AcquireAnswer> acquire(const AcquireRequest& request) override;
  Result<AcquireAnswer> acquire_and_wait(const AcquireRequest& request, int cancelled) override;
  Result<Outcomes> release(const ReleaseRequest& request) override;
  Result<Outcomes> transfer(const TransferRequest& request) override;
  Result<GateAnswer> gate(const GateRequest& request) override;
  Result<GateAnswer> gate_and_wait(const GateRequest& request, Duration at_most,
                                   const std::function<void(const GateAnswer&)>& denied,
                                   int cancelled) override;

  Result<Lease> lease(const LeaseId& id) override { return manager().lease(id); }
  Result<Board> board(const Listing& listing) override { return manager().board(listing); }
  Result<std::vector<Event>> history(const HistoryQuery& query) override { return manager().history(query); }
  Result<std::vector<Event>> events(std::uint64_t after, Duration, int) override {
    return manager().events(after);
  }

  // No tool does these.
  Result<AcquireAnswer> poll(const Caller&, const GroupId&) override { return no_tool(); }
  Result<void> cancel(const Caller&, const GroupId&) override { return no_tool(); }
  Result<AcquireAnswer> upgrade(const AcquireRequest&) override { return no_tool(); }
  Result<Outcomes> downgrade(const ReleaseRequest&) override { return no_tool(); }
  Result<Outcomes> renew(const RenewRequest&) override { return no_tool(); }
  Result<Outcomes> force_release(const ForceReleaseRequest&) override { return no_tool(); }
  Result<CheckAnswer> check(const Caller&, const std::string&, Token) override { return no_tool(); }
  Result<std::size_t> turn_started(const Holder&) override { return no_tool(); }
  Result<std::size_t> turn_stopped(const Holder&) override { return no_tool(); }
  Result<Outcomes> end_session(const Caller&) override { return no_tool(); }
  Result<SessionPaths> session_paths(const std::string&) override { return no_tool(); }
  Result<Blockers> blockers() override { return no_tool(); }
  Result<Contention> instruct(const InstructRequest&) override { return no_tool(); }
  Result<Swept> sweep(bool) override { return no_tool(); }
  Result<Swept> cleanup() override { return no_tool(); }
  Result<std::vector<Setting>> settings() override { return no_tool(); }
  Result<void> put_setting(const Setting&) override { return no_tool(); }
  Result<void> erase_setting(const std::string&) override { return no_tool(); }

 private:
  LeaseManager& manager() { return options_.manager; }
  static std::unexpected<Error> no_tool() { return fail(Code::invalid_argument, "No tool does this."); }

  // Whether this one may act for that one. Errors: not_owner, invalid_session.
  Result<void> admit(Caller& caller) const;
  Result<AcquireAnswer> acquire_until(AcquireRequest request, Waiter::Until until);
  Result<GateAnswer> gate_within(GateRequest request, std::optional<Duration> at_most);
  Result<Outcomes> change(std::function<Result<Outcomes>()> ask);

  const Options options_;
  std::optional<Steps> steps_;
  // The one thing that was taken down.
  std::shared_ptr<Waiter> acquiring_;
  std::shared_ptr<GateWaiter> gating_;
  std::shared_ptr<std::optional<Result<Outcomes>>> changed_;
};

}  // namespace leasehold::daemon
