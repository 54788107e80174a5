// A client at the gate, which it asks before it writes or reads without a thought of leases.
#include <fmt/format.h>

#include <algorithm>

#include "simulation/client_call.h"

namespace leasehold::simulation {

void Client::gate() {
  Dice& dice = world_.dice;
  GateRequest request = {.wanted = denied_ && dice.chance(70) ? *denied_ : some_request(),
                         .read = dice.chance(15)};
  request.wanted.caller = caller_;
  request.wanted.mode = Mode::exclusive;
  request.wanted.wait.reset();
  request.wanted.idempotency_key.clear();

  Call context = this->context(Call::Kind::gate);
  context.request = request.wanted;
  context.read = request.read;
  call<Result<GateAnswer>>(
      fmt::format("would {} {}", request.read ? "read" : "write", world_.trace.text(request.wanted)), context,
      [this, context, request] {
        auto answer = world_.service().gate(request);
        world_.checker.gated(context, answer);
        const auto* allowed = answer ? std::get_if<Allowed>(&answer->decision) : nullptr;
        if (allowed != nullptr && !request.read) write_by(request.wanted, allowed->leases);
        return answer;
      },
      [this, request](const Result<GateAnswer>& answer, Time asked) {
        if (answer && !request.read) hear_gate(request, *answer, asked);
      });
}

// What was let through is written at once: what was asked for by name.
void Client::write_by(const AcquireRequest& request, const std::vector<Lease>& leases) {
  for (const WantedPath& wanted : request.paths) {
    Token token;
    for (const Lease& lease : leases) {
      if (contains(lease.scope(), wanted.scope())) token = std::max(token, lease.token);
    }
    if (!wanted.subtree && wanted.requested) world_.checker.written(role_.owner, wanted.path, token);
  }
}

void Client::hear_gate(const GateRequest& request, const GateAnswer& answer, Time asked) {
  const auto* allowed = std::get_if<Allowed>(&answer.decision);
  if (allowed != nullptr) {
    take(allowed->leases, asked, answer.at);
    denied_.reset();
  } else {
    denied_ = request.wanted;
  }
}

void Client::end_session() {
  Caller everybody = caller_;
  everybody.whole_session = !role_.owner.session_id.empty();
  everybody.holder.process.reset();  // That it asks proves nothing: hooks of other processes report it.
  world_.beliefs.drop_all(index_);
  denied_.reset();
  call<Result<Outcomes>>(
      "ends its session", {.kind = Call::Kind::end_session, .caller = everybody},
      [this] { return world_.service().end_session(caller_); }, [](const Result<Outcomes>&, Time) {});
}

}  // namespace leasehold::simulation
