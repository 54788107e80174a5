#include "simulation/world.h"

#include <fmt/format.h>

#include "store/memory/memory_store.h"

namespace leasehold::simulation {
namespace {

using namespace std::chrono_literals;

// Small enough that a short run meets every limit.
Policy small_policy() {
  Policy policy;
  policy.ttl = 1min;
  policy.ttl_max = 10min;
  policy.silence_max = 5min;
  policy.gate_retry = 20s;
  policy.contention_life = 5min;
  policy.instruction_life = 30min;
  policy.leases_per_owner_max = 6;
  policy.waiters_per_path_max = 5;
  return policy;
}

}  // namespace

World::World(std::uint64_t seed, PlantedBug planted, bool wall_steps, std::set<std::string> acting_sessions)
    : bug(planted),
      dice(seed),
      faults(draw_faults(dice)),
      policy(small_policy()),
      rules(policy, clock, processes),
      checker(rules, beliefs, std::move(acting_sessions), !faults.blind_probe),
      wall_steps_(wall_steps),
      ids_(seed + 1),
      store_clock_(make_clock(planted, clock)) {
  open_store();
  restart_service();
}

void World::open_store() {
  service_.reset();
  data_ = open_memory_store(*store_clock_);
  recording_ = std::make_unique<RecordingStore>(*data_, [this](const Commit& commit, View& view) {
    checker.committed(commit, view);
    deliver(commit);
  });
  faulty_ = std::make_unique<FaultyStore>(*recording_);
  if (faults.conflicts) faulty_->run_in_vain(1);
}

void World::restart_service() {
  service_ = make_service(bug, {.environment = {processes, ids_},
                                .store = *faulty_,
                                .workspace = "simulated",
                                .policy = policy,
                                .wake = [this](const GroupId& ticket) { on_early_ring(ticket); }});
}

void World::lose_all_data() {
  clock.advance(1s);  // Nobody restarts within the microsecond that tokens are counted in.
  open_store();
  restart_service();
  checker.data_lost();
}

void World::deliver(const Commit& commit) {
  for (const GroupId& ticket : commit.rings) {
    if (faults.lost_bells && dice.chance(30)) {
      note(fmt::format("the bell of {} is not heard", trace.name(ticket)));
    } else {
      on_ring(ticket);
    }
  }
}

void World::step_wall() {
  constexpr int kHoursOfAYear = 24 * 365;
  const bool far = dice.chance(50);
  std::chrono::hours by(far ? (1 + dice.below(5)) * kHoursOfAYear : 1 + dice.below(48));
  // Tokens rise over a loss of data because the wall clock does. So it must not go back then.
  if (dice.chance(50) && !faults.data_loss) by = -by;
  if (!wall_steps_) return;
  clock.step_wall(by);
  trace.add_aside(now(), fmt::format("the wall clock is set by {} h", by.count()));
}

void World::set_outage(bool outage) { faulty_->be_unavailable(outage); }

void World::trip_next_call() {
  faulty_->lose_answers(faults.lost_answers && dice.chance(12) ? 1 : 0);
  faulty_->lose_commits(faults.lost_commits && dice.chance(8) ? 1 : 0);
}

void World::heal() {
  const bool wall_steps = faults.wall_steps;
  faults = {.wall_steps = wall_steps};
  processes.blind(false);
  faulty_->be_unavailable(false);
  faulty_->lose_answers(0);
  faulty_->lose_commits(0);
  faulty_->run_in_vain(0);
}

}  // namespace leasehold::simulation
