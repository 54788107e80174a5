#include "daemon/mcp_client.h"

#include "daemon/exchange.h"

namespace leasehold::daemon {
namespace {

std::unexpected<Error> not_yet() { return fail(Code::unavailable, "This is not decided yet."); }

}  // namespace

Result<void> McpClient::admit(Caller& caller) const {
  if (options_.principal.role < Role::agent) {
    return fail(Code::not_owner, "This credential may only look. Leases need one with the role agent.");
  }
  if (!options_.is_somebody && caller.holder.owner.session_id.empty()) {
    return fail(Code::invalid_session,
                "Over HTTP nothing tells one client from the next, so this could not say whose leases are "
                "whose. Use a token of one agent (lease token create --agent NAME), or say who you are in "
                "the address: /mcp?agent_id=NAME");
  }
  return bind(options_.principal, caller);
}

Result<AcquireAnswer> McpClient::acquire_until(AcquireRequest request, Waiter::Until until) {
  if (acquiring_) return *acquiring_->answer();
  if (!options_.withheld.empty()) return fail(Code::retry_later, options_.withheld);
  if (auto admitted = admit(request.caller); !admitted) return fail(admitted.error());
  const auto wait = request.wait;
  const auto waiter = std::make_shared<Waiter>(manager(), std::move(request), until);
  steps_ = steps_of(waiter);
  steps_->wait = wait;
  acquiring_ = waiter;
  return not_yet();
}

Result<GateAnswer> McpClient::gate_within(GateRequest request, std::optional<Duration> at_most) {
  if (gating_) return *gating_->answer();
  if (!options_.withheld.empty()) return fail(Code::retry_later, options_.withheld);
  if (auto admitted = admit(request.wanted.caller); !admitted) return fail(admitted.error());
  const auto waiter =
      std::make_shared<GateWaiter>(manager(), options_.services.store(), std::move(request), at_most);
  steps_ = Steps{.look = [waiter] { waiter->look(); },
                 .undo = [waiter] { waiter->undo(); },
                 .give_up = [waiter] { waiter->give_up(); },
                 .is_done = [waiter] { return waiter->answer().has_value(); },
                 .pause = [waiter] { return waiter->pause(); },
                 .wait = at_most};
  gating_ = waiter;
  return not_yet();
}

Result<Outcomes> McpClient::change(std::function<Result<Outcomes>()> ask) {
  const auto outcomes = std::make_shared<std::optional<Result<Outcomes>>>();
  steps_ = Steps{.look = [outcomes, ask = std::move(ask)] { *outcomes = ask(); },
                 .undo = [outcomes] { outcomes->reset(); },
                 .give_up = [] {},
                 .is_done = [outcomes] { return outcomes->has_value(); },
                 .pause = [] { return Waiter::Pause(); }};
  changed_ = outcomes;
  return not_yet();
}

Result<AcquireAnswer> McpClient::acquire(const AcquireRequest& request) {
  return acquire_until(request, Waiter::Until::queued);
}

Result<AcquireAnswer> McpClient::acquire_and_wait(const AcquireRequest& request, int) {
  return acquire_until(request, Waiter::Until::decided);
}

Result<Outcomes> McpClient::release(const ReleaseRequest& request) {
  if (changed_) return **changed_;
  ReleaseRequest bound = request;
  if (auto admitted = admit(bound.caller); !admitted) return fail(admitted.error());
  return change([this, bound = std::move(bound)] { return manager().release(bound); });
}

Result<Outcomes> McpClient::transfer(const TransferRequest& request) {
  if (changed_) return **changed_;
  if (!options_.withheld.empty()) return fail(Code::retry_later, options_.withheld);
  TransferRequest bound = request;
  if (auto admitted = admit(bound.caller); !admitted) return fail(admitted.error());
  return change([this, bound = std::move(bound)] { return manager().transfer(bound); });
}

Result<GateAnswer> McpClient::gate(const GateRequest& request) { return gate_within(request, std::nullopt); }

Result<GateAnswer> McpClient::gate_and_wait(const GateRequest& request, Duration at_most,
                                            const std::function<void(const GateAnswer&)>&, int) {
  return gate_within(request, at_most);
}

}  // namespace leasehold::daemon
