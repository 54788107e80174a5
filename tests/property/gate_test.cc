// The gate against a plain model of its contract: no sequence of calls, restarts, clock steps and deaths
// gives a second retry, a schedule that moves, a silent skip or a grant against a live owner.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "support/small_world.h"
#include "support/stores.h"

namespace leasehold::property {
namespace {

using namespace std::chrono_literals;

constexpr int kAgents = 3;
constexpr int kPaths = 2;
const char* const kPath[kPaths] = {"/a", "/b"};

enum class Act { gate, gate_both, acquire, release, restart, die, instruct, end_session, step_wall, pass };

struct Step {
  Act act{};
  int agent = 0;
  int path = 0;
  int seconds = 0;
  Instruction instruction{};
};

void showValue(const Step& step, std::ostream& out) {
  out << "act " << static_cast<int>(step.act) << " agent " << step.agent << " path " << step.path << " "
      << step.seconds << "s " << word(step.instruction);
}

rc::Gen<Step> any_step() {
  const auto act = rc::gen::weightedElement<Act>({{8, Act::gate},
                                                  {2, Act::gate_both},
                                                  {2, Act::acquire},
                                                  {3, Act::release},
                                                  {3, Act::restart},
                                                  {1, Act::die},
                                                  {2, Act::instruct},
                                                  {1, Act::end_session},
                                                  {1, Act::step_wall},
                                                  {6, Act::pass}});
  return rc::gen::build<Step>(
      rc::gen::set(&Step::act, act), rc::gen::set(&Step::agent, rc::gen::inRange(0, kAgents)),
      rc::gen::set(&Step::path, rc::gen::inRange(0, kPaths)),
      rc::gen::set(&Step::seconds, rc::gen::element(1, 30, 90, 179, 180, 300, 3600, 5000)),
      rc::gen::set(&Step::instruction, rc::gen::element(Instruction::retry, Instruction::force,
                                                        Instruction::transfer, Instruction::abandon)));
}

// What the contract says about one agent and one path.
struct Expected {
  enum class State { fresh, scheduled, halted, abandoned } state = State::fresh;
  Time retry_at;
  Time drop_at;
  bool may_retry = false;
  int life = 0;  // Which process of the worker was heard of last.
};

// A program that asks, on the store that all share.
struct Program {
  std::unique_ptr<Store> store;
  std::unique_ptr<LeaseManager> manager;
};

struct Machine {
  ManualClock clock;
  ToldProbe probe;
  SeededRandom random;
  std::unique_ptr<StoreSite> site;
  Program operators;
  Program programs[kAgents];
  Expected expected[kAgents][kPaths];
  int lives[kAgents] = {};

  explicit Machine(const std::string& store_name) {
    for (const StoreFactory& factory : available_stores()) {
      if (factory.name == store_name) site = factory.make(clock);
    }
    start(operators);
    for (Program& program : programs) start(program);
  }

  // Whatever it knew is gone; what is in the store counts.
  void start(Program& program) {
    program.manager.reset();
    program.store.reset();
    program.store = site->open();
    program.manager =
        std::make_unique<LeaseManager>(Environment{probe, random}, *program.store, kWorkspace, Policy{});
  }

  LeaseManager& manager(int agent) { return *programs[agent].manager; }

  Caller who(int agent) const {
    Caller one = caller({"agent-" + std::to_string(agent), "s" + std::to_string(agent)});
    one.holder.process = process(1000 + 100 * agent + lives[agent]);
    return one;
  }

  AcquireRequest wants(int agent, const std::vector<int>& paths) const {
    AcquireRequest request;
    request.caller = who(agent);
    for (const int path : paths) request.paths.push_back({.path = kPath[path]});
    return request;
  }

  // Nothing: free.
  std::optional<Owner> holder(int path) {
    const auto board = operators.manager->board({.paths = {kPath[path]}});
    for (const BoardRow& row : board->rows) {
      if (row.live && row.lease.status == Status::active) return row.lease.holder.owner;
    }
    return std::nullopt;
  }

  Expected& current(int agent, int path) {
    Expected& one = expected[agent][path];
    if (one.state != Expected::State::fresh && one.drop_at <= clock.now()) one = {};
    return one;
  }

  void gate(int agent, const std::vector<int>& paths) {
    const Time now = clock.now();
    const Owner self = who(agent).holder.owner;
    std::vector<int> missing;
    bool stands = false;
    bool halts = false;
    std::vector<int> blocked;
    std::optional<Owner> holders[kPaths];
    for (const int path : paths) {
      holders[path] = holder(path);
      if (holders[path] == self) continue;
      missing.push_back(path);
      if (holders[path]) blocked.push_back(path);
    }
    // What it was told to leave alone it may not write, even if it got a lease on it.
    const bool is_abandoned = std::ranges::any_of(
        paths, [&](int path) { return current(agent, path).state == Expected::State::abandoned; });
    if (!missing.empty() || is_abandoned) {
      for (const int path : paths) {
        const Expected& one = current(agent, path);
        switch (one.state) {
          case Expected::State::fresh:
            break;
          case Expected::State::scheduled:
            stands |= now < one.retry_at;
            break;
          case Expected::State::halted:
            stands |= !one.may_retry;
            halts |= !one.may_retry;
            break;
          case Expected::State::abandoned:
            stands = halts = true;
        }
      }
    }

    const auto answer = manager(agent).gate({.wanted = wants(agent, paths)});
    RC_ASSERT(answer);
    const auto* denied = std::get_if<Denied>(&answer->decision);
    // Told of a loss instead, once: nothing else happens then.
    if (denied != nullptr && (denied->code == Code::lost || denied->code == Code::transferred)) {
      RC_ASSERT(!answer->notices.empty());
      RC_ASSERT(!missing.empty());
      return;
    }
    if (!is_abandoned && (missing.empty() || (!stands && blocked.empty()))) {
      RC_ASSERT(denied == nullptr);
      for (const int path : paths) {
        RC_ASSERT(holder(path) == self);
        expected[agent][path] = {};
      }
      return;
    }
    RC_ASSERT(denied != nullptr);
    for (const Contention& contention : denied->contentions) {
      expected[agent][contention.path == kPath[0] ? 0 : 1].life = lives[agent];
    }
    if (!stands) {
      for (const int path : blocked) {
        Expected& one = current(agent, path);
        if (one.state == Expected::State::fresh) {
          one = {Expected::State::scheduled, now + 180s, now + 180s + 1h, false, lives[agent]};
        } else {
          one = {Expected::State::halted, one.retry_at, now + 24h, false, lives[agent]};
          halts = true;
        }
      }
    }
    RC_ASSERT(denied->code == (halts ? Code::halted : Code::retry_later));
    for (const Contention& contention : denied->contentions) {
      const int path = contention.path == kPath[0] ? 0 : 1;
      const Expected& one = current(agent, path);
      RC_ASSERT(contention.retry_at == one.retry_at);
      RC_ASSERT((contention.state == ContentionState::scheduled) ==
                (one.state == Expected::State::scheduled));
    }
    // Nobody lost anything by it.
    for (const int path : paths) RC_ASSERT(holder(path) == holders[path]);
  }

  void instruct(int agent, int path, Instruction instruction) {
    const auto found = operators.manager->blockers();
    RC_ASSERT(found);
    const Owner worker = who(agent).holder.owner;
    const Expected& one = current(agent, path);
    const auto blocker = std::ranges::find_if(found->blockers, [&](const Blocker& candidate) {
      return candidate.contention.owner() == worker && candidate.contention.path == kPath[path];
    });
    const bool waits = one.state == Expected::State::halted && one.life == lives[agent];
    RC_ASSERT((blocker != found->blockers.end()) == waits);
    if (blocker == found->blockers.end()) return;
    RC_ASSERT(operators.manager->instruct(
        {.id = blocker->contention.id, .instruction = instruction, .actor = "olga", .reason = "so"}));
    Expected& now = expected[agent][path];
    switch (instruction) {
      case Instruction::retry:
        now.may_retry = true;
        break;
      case Instruction::abandon:
        now.state = Expected::State::abandoned;
        now.drop_at = clock.now() + 24h;
        break;
      default:
        RC_ASSERT(holder(path) == worker);
        now = {};
    }
  }

  void run(const Step& step) {
    switch (step.act) {
      case Act::gate:
        return gate(step.agent, {step.path});
      case Act::gate_both:
        return gate(step.agent, {0, 1});
      case Act::acquire: {
        const auto answer = manager(step.agent).acquire(wants(step.agent, {step.path}));
        RC_ASSERT(answer);
        Expected& one = current(step.agent, step.path);
        if (std::holds_alternative<Granted>(answer->decision) && one.state != Expected::State::abandoned)
          one = {};
        return;
      }
      case Act::release:
        RC_ASSERT(
            manager(step.agent).release({.caller = who(step.agent), .which = {.paths = {kPath[step.path]}}}));
        return;
      case Act::restart:
        return start(programs[step.agent]);
      case Act::die:
        // The next process of the same owner goes on where it stood.
        probe.tell(*who(step.agent).holder.process, Liveness::dead);
        ++lives[step.agent];
        return;
      case Act::instruct:
        return instruct(step.agent, step.path, step.instruction);
      case Act::end_session:
        RC_ASSERT(manager(step.agent).end_session(who(step.agent)));
        for (Expected& one : expected[step.agent]) one = {};
        return;
      case Act::step_wall:
        clock.step_wall(std::chrono::seconds(step.seconds) - 40min);
        return;
      case Act::pass:
        clock.advance(std::chrono::seconds(step.seconds));
    }
  }
};

void check_contract(const std::string& store_name, const std::vector<Step>& steps) {
  Machine machine(store_name);
  for (const Step& step : steps) machine.run(step);
}

RC_GTEST_PROP(Gate, KeepsItsContract, ()) {
  check_contract("memory", *rc::gen::container<std::vector<Step>>(any_step()));
}

// Fewer steps: each restart opens the file anew.
RC_GTEST_PROP(Gate, KeepsItsContractInAFile, ()) {
  constexpr int kSize = 40;
  check_contract("sqlite", *rc::gen::resize(kSize, rc::gen::container<std::vector<Step>>(any_step())));
}

}  // namespace
}  // namespace leasehold::property
