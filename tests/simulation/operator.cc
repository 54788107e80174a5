#include "simulation/operator.h"

#include <fmt/format.h>

namespace leasehold::simulation {

using namespace std::chrono_literals;

void Operator::step() {
  const std::size_t choice = world_.dice.below(100);
  const auto& leases = world_.checker.snapshot().leases;
  std::vector<Contention> halted = world_.checker.snapshot().contentions;
  std::erase_if(halted, [](const Contention& one) { return one.state != ContentionState::halted; });
  if (!halted.empty() && world_.dice.chance(50)) return instruct(world_.dice.pick(halted));
  if (choice < 50 || leases.empty()) {
    sweep(world_.dice.chance(40));
  } else if (choice < 60) {
    forget();
  } else if (choice < 90) {
    force(world_.dice.pick(leases));
  } else {
    hand_over(world_.dice.pick(leases));
  }
}

void Operator::forget() {
  world_.checker.begin({.kind = Call::Kind::sweep});
  // History is kept by the wall: nobody is to set that so far that the gate cannot see who had a file.
  const auto answer = world_.service().forget(24h * 365 * 100);
  world_.checker.end();
  world_.note("what ended long ago is forgotten -> " + world_.trace.text(answer));
}

void Operator::sweep(bool dead_owners) {
  world_.checker.begin({.kind = Call::Kind::sweep});
  const auto swept = world_.service().sweep(dead_owners);
  world_.checker.end();
  world_.note(
      fmt::format("sweep{} -> {}", dead_owners ? " of the dead" : "",
                  swept ? fmt::format("ended={} dropped={}", swept->ended, swept->dropped) : "failed"));
}

void Operator::force(const Lease& lease) {
  ForceReleaseRequest request = {.actor = "operator", .reason = "simulated"};
  if (world_.dice.chance(50)) {
    request.which.ids = {lease.id};
    if (world_.dice.chance(20)) request.which.ids.push_back(lease.id);
  } else {
    request.which.paths = {lease.path};
  }
  if (world_.dice.chance(50)) request.recall = world_.dice.between(1s, 20s);
  world_.checker.begin({.kind = Call::Kind::force});
  const auto answer = world_.service().force_release(request);
  world_.checker.end();
  world_.note(fmt::format("operator {} {} -> {}", request.recall ? "recalls" : "forces",
                          world_.trace.text(request.which), world_.trace.text(answer)));
}

void Operator::hand_over(const Lease& lease) {
  const Client& to = *world_.dice.pick(clients_);
  const TransferRequest request = {.caller = {.holder = {.owner = {"operator", ""}}},
                                   .which = {.paths = {lease.path}},
                                   .to = to.holder(),
                                   .as_operator = true};
  world_.checker.begin({.kind = Call::Kind::transfer,
                        .caller = request.caller,
                        .which = request.which,
                        .to = request.to.owner,
                        .as_operator = true});
  const auto answer = world_.service().transfer(request);
  world_.checker.end();
  world_.note(fmt::format("operator hands {} to {} -> {}", world_.trace.text(request.which),
                          to.role().owner.agent_id, world_.trace.text(answer)));
}

void Operator::instruct(const Contention& contention) {
  const InstructRequest request = {.id = contention.id,
                                   .instruction = static_cast<Instruction>(world_.dice.below(4)),
                                   .actor = "operator",
                                   .reason = "simulated"};
  const Call call = {.kind = Call::Kind::instruct,
                     .request = contention.wanted,
                     .to = contention.owner(),
                     .contention = contention.id,
                     .instruction = request.instruction};
  world_.checker.begin(call);
  const auto answer = world_.service().instruct(request);
  world_.checker.instructed(call, answer);
  world_.checker.end();
  world_.note(fmt::format("operator tells {} about {}: {} -> {}", call.to.agent_id, contention.path,
                          word(request.instruction),
                          answer ? "done" : std::string(info(answer.error().code).name)));
}

}  // namespace leasehold::simulation
