#include "simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "simulation/client.h"
#include "simulation/operator.h"
#include "simulation/roles.h"
#include "util/stable_hash.h"

namespace leasehold::simulation {
namespace {

using namespace std::chrono_literals;

constexpr int kSteps = 160;

class Simulation {
 public:
  Simulation(std::uint64_t seed, PlantedBug bug, bool wall_steps, const std::vector<Role>& roles)
      : world_(seed, bug, wall_steps, acting_sessions(roles)), faults_(describe(world_.faults)) {
    std::vector<Client*> peers;
    for (const Role& role : roles) {
      clients_.push_back(std::make_unique<Client>(world_, clients_.size(), role));
      peers.push_back(clients_.back().get());
    }
    for (const auto& client : clients_) client->set_peers(peers);
    operator_.set_clients(peers);
    for (const Role& role : roles) {
      if (!programs_.contains(role.program)) start_program(role.program);
    }
    world_.on_ring = [this](const GroupId& ticket) {
      for (const auto& client : clients_) client->hear_bell(ticket);
    };
    world_.on_early_ring = [this](const GroupId& ticket) {
      for (const auto& client : clients_) client->look_at_once(ticket);
    };
  }

  SeedRun run(std::uint64_t seed) {
    for (int step = 0; step < kSteps && !failed(); ++step) {
      world_.clock.advance(some_time());
      take_step();
      world_.checker.check_beliefs();
    }
    if (!failed()) come_to_an_end();
    return {.seed = seed,
            .faults = faults_,
            .violation = world_.checker.violation(),
            .trace = world_.trace.lines(),
            .decisions = world_.trace.decisions()};
  }

 private:
  bool failed() const { return world_.checker.violation().has_value(); }

  Duration some_time() {
    const std::size_t choice = world_.dice.below(100);
    if (choice < 50) return world_.dice.between(0ms, 100ms);
    if (choice < 80) return world_.dice.between(100ms, 3s);
    if (choice < 97) return world_.dice.between(3s, 20s);
    // Seldom so long that everything may be forgotten. A request that is under way by then would find
    // its idempotency key forgotten too.
    const bool long_break = world_.dice.chance(3) && std::ranges::none_of(clients_, [](const auto& client) {
                              return client->is_calling();
                            });
    return long_break ? world_.dice.between(1h, 3h) : world_.dice.between(20s, 200s);
  }

  void take_step() {
    const std::size_t choice = world_.dice.below(100);
    if (choice < 82) {
      world_.dice.pick(clients_)->step();
    } else if (choice < 90) {
      operator_.step();
    } else {
      go_wrong();
    }
  }

  void go_wrong() {
    const Faults& faults = world_.faults;
    switch (world_.dice.below(6)) {
      case 0:
        if (faults.crashes) crash_or_start(world_.dice.pick(clients_)->role().program);
        break;
      case 1:
        if (faults.outages) {
          outage_ = !outage_;
          world_.note(outage_ ? "the store cannot be reached" : "the store is back");
          world_.set_outage(outage_);
        }
        break;
      case 2:
        if (faults.blind_probe) {
          world_.processes.blind(!world_.processes.is_blind());
          world_.note(world_.processes.is_blind() ? "no process can be seen" : "processes can be seen again");
        }
        break;
      case 3:
        if (faults.wall_steps) world_.step_wall();
        break;
      case 4:
        if (faults.restarts) {
          world_.note("the service restarts");
          world_.restart_service();
          tell_of_restart();
        }
        break;
      default:
        if (faults.data_loss && world_.dice.chance(30)) {
          world_.note("all data are lost");
          world_.lose_all_data();
          world_.set_outage(outage_);
          tell_of_restart();
        }
    }
  }

  void tell_of_restart() {
    for (const auto& client : clients_) client->hear_of_restart();
  }

  void crash_or_start(std::size_t program) {
    bool runs = false;
    bool may_start = true;
    for (const auto& client : clients_) {
      if (client->role().program != program) continue;
      runs = runs || client->is_up();
      may_start = may_start && client->can_restart();
    }
    if (runs) {
      crash_program(program);
    } else if (may_start) {
      start_program(program);
    }
  }

  void crash_program(std::size_t program) {
    world_.note(fmt::format("program {} crashes", program));
    const std::optional<Process> process = programs_[program];
    if (process) world_.processes.kill(*process);
    for (const auto& client : clients_) {
      if (client->role().program == program) client->crash();
    }
    if (!process || process->machine_id != "here") return;
    for (const auto& client : clients_) client->hear_of_death(*process);
  }

  void start_program(std::size_t program) {
    std::optional<Process> process;
    for (const auto& client : clients_) {
      if (client->role().program != program) continue;
      if (!process && client->role().seen == Role::Seen::here) process = world_.processes.start();
      if (!process && client->role().seen == Role::Seen::elsewhere)
        process = world_.processes.start_elsewhere();
      client->restart(process);
    }
    programs_[program] = process;
    world_.note(fmt::format("program {} starts", program));
  }

  // No faults, no new work. Only bells, the waiters' own timers and the sweeper move things on: a
  // waiter that looked just to be safe would hide a bell that nobody rang. (Bells that were lost on
  // purpose are made up for, once.)
  void come_to_an_end() {
    world_.note("everything heals");
    const bool bells_were_lost = world_.faults.lost_bells;
    world_.heal();
    if (bells_were_lost) tell_of_restart();
    const Time end = world_.now() + 40min;
    Time next_sweep = world_.now();
    while (!failed() && world_.now() < end) {
      for (const auto& client : clients_) {
        for (int i = 0; i < 8; ++i) client->finish();
      }
      if (world_.now() >= next_sweep) {
        operator_.sweep(true);
        next_sweep = world_.now() + 30s;
      }
      world_.checker.check_beliefs();
      if (all_done()) break;
      world_.clock.advance(std::chrono::ceil<std::chrono::microseconds>(time_to_next(next_sweep)));
    }
    if (!failed()) world_.checker.check_finished();
    for (const auto& client : clients_) {
      if (client->waits())
        world_.checker.fail("I12", client->role().owner.agent_id + " was never told what came of its wait");
    }
  }

  bool all_done() const {
    const Snapshot& left = world_.checker.snapshot();
    return left.leases.empty() && left.tickets.empty() &&
           std::ranges::none_of(clients_, [](const auto& client) { return client->waits(); });
  }

  std::chrono::nanoseconds time_to_next(Time next_sweep) const {
    Time next = next_sweep;
    for (const auto& client : clients_) next = std::min(next, client->next_due());
    return std::max<std::chrono::nanoseconds>(next - world_.now(), 1us);
  }

  World world_;
  Operator operator_{world_};
  const std::string faults_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::map<std::size_t, std::optional<Process>> programs_;
  bool outage_ = false;
};

SeedRun run_once(std::uint64_t seed, PlantedBug bug, bool wall_steps) {
  Dice dice(seed);
  SeedRun run = Simulation(seed, bug, wall_steps, draw_roles(dice)).run(seed);
  std::string whole;
  for (const std::string& line : run.trace) whole += line + '\n';
  run.hash = stable_hash({whole});
  return run;
}

// The first decision that differs.
std::optional<Violation> compare(const SeedRun& with_steps, const SeedRun& without) {
  const auto [a, b] = std::ranges::mismatch(with_steps.decisions, without.decisions);
  if (a == with_steps.decisions.end() && b == without.decisions.end()) return std::nullopt;
  const std::string none = "(nothing)";
  return Violation{
      "I16",
      fmt::format("setting the wall clock changes a decision\n  with:    {}\n  without: {}",
                  a == with_steps.decisions.end() ? none : *a, b == without.decisions.end() ? none : *b)};
}

}  // namespace

SeedRun simulate(std::uint64_t seed, PlantedBug bug) {
  SeedRun run = run_once(seed, bug, true);
  if (!run.violation && run.faults.find("wall_steps") != std::string::npos) {
    run.violation = compare(run, run_once(seed, bug, false));
  }
  return run;
}

std::string report(const SeedRun& run, bool whole_trace) {
  constexpr std::size_t kShown = 40;
  std::string text = fmt::format("seed {} (faults: {})", run.seed, run.faults);
  if (run.violation) text += fmt::format(" violates {}: {}", run.violation->invariant, run.violation->text);
  text += "\n";
  const std::size_t skipped = whole_trace || run.trace.size() <= kShown ? 0 : run.trace.size() - kShown;
  if (skipped > 0) text += fmt::format("  ... {} steps before\n", skipped);
  for (std::size_t i = skipped; i < run.trace.size(); ++i) text += run.trace[i] + "\n";
  return text;
}

}  // namespace leasehold::simulation
