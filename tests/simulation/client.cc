#include "simulation/client.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulation/client_call.h"

namespace leasehold::simulation {

using namespace std::chrono_literals;

Client::Client(World& world, std::size_t index, Role role)
    : world_(world),
      index_(index),
      role_(std::move(role)),
      caller_{{.owner = role_.owner, .host = "simulated"}, role_.whole_session} {}

void Client::restart(const std::optional<Process>& process) {
  caller_.holder.process = process;
  up_ = true;
  ++life_;  // What was said to the process it was is not for this one.
  turn_open_ = false;
}

// What it had asked for may still arrive; what it is told is not heard by anybody.
void Client::crash() {
  up_ = false;
  ++life_;
  world_.beliefs.drop_all(index_);
  waits_.clear();
  unanswered_.clear();
  last_keyed_.reset();
}

void Client::put_in_flight(std::function<void()> go) {
  const Duration delay =
      world_.dice.chance(60) ? world_.dice.between(50ms, 500ms) : world_.dice.between(5s, 90s);
  in_flight_ = InFlight{world_.now() + delay, std::move(go)};
}

Call Client::context(Call::Kind kind) const { return {.kind = kind, .caller = caller_}; }

void Client::step() {
  if (in_flight_) {
    if (in_flight_->due <= world_.now()) std::exchange(in_flight_, std::nullopt)->go();
    return;
  }
  if (!up_) return;
  if (!unanswered_.empty() && world_.dice.chance(60)) return ask_again();
  const Wait* pressing = pressing_wait();
  if (pressing == nullptr || world_.dice.chance(25)) return do_something();
  if (pressing->cancelling) {
    cancel(pressing->ticket);
  } else {
    look(pressing->ticket);
  }
}

void Client::do_something() {
  const std::size_t choice = world_.dice.below(100);
  if (choice < 24) {
    start_work();
  } else if (choice < 34) {
    gate();
  } else if (choice < 48) {
    write();
  } else if (choice < 62) {
    release();
  } else if (choice < 74) {
    renew();
  } else if (choice < 79) {
    upgrade();
  } else if (choice < 83) {
    downgrade();
  } else if (choice < 87) {
    transfer();
  } else if (choice < 90) {
    turn();
  } else if (choice < 91) {
    end_session();
  } else if (choice < 95 && !waits_.empty()) {
    cancel(world_.dice.pick(waits_).ticket);
  } else if (!waits_.empty()) {
    look(world_.dice.pick(waits_).ticket);
  }
}

void Client::finish() {
  finishing_ = true;
  if (in_flight_) return std::exchange(in_flight_, std::nullopt)->go();
  if (!up_) return;
  if (!unanswered_.empty()) return ask_again();
  if (const Wait* pressing = pressing_wait()) {
    return pressing->cancelling ? cancel(pressing->ticket) : look(pressing->ticket);
  }
  // Who waits keeps what it has: letting go of it would hide a deadlock.
  if (waits_.empty() && !std::exchange(gave_back_, true)) release_all();
}

// A waiter whose process nobody can see has to show that it is there.
constexpr Duration kHeartbeat = 5s;

Time Client::next_due() const {
  Time next = kForever;
  for (const Wait& wait : waits_) {
    const bool is_seen = role_.seen == Role::Seen::here;
    next = std::min(
        next, is_seen ? wait.look_at : std::min<Time>(wait.look_at, wait.not_granted_before + kHeartbeat));
  }
  return next;
}

const Client::Wait* Client::pressing_wait() const {
  const auto is_pressing = [&](const Wait& wait) {
    const bool must_beat =
        finishing_ && role_.seen != Role::Seen::here && world_.now() >= wait.not_granted_before + kHeartbeat;
    return wait.woken || wait.cancelling || wait.look_at <= world_.now() || must_beat;
  };
  const auto found = std::ranges::find_if(waits_, is_pressing);
  return found == waits_.end() ? nullptr : &*found;
}

Client::Wait* Client::find_wait(const GroupId& ticket) {
  const auto found = std::ranges::find(waits_, ticket, &Wait::ticket);
  return found == waits_.end() ? nullptr : &*found;
}

void Client::forget_wait(const GroupId& ticket) {
  std::erase_if(waits_, [&](const Wait& wait) { return wait.ticket == ticket; });
}

void Client::hear_bell(const GroupId& ticket) {
  if (Wait* wait = find_wait(ticket)) wait->woken = true;
}

void Client::look_at_once(const GroupId& ticket) {
  if (up_ && !in_flight_ && find_wait(ticket) != nullptr) look(ticket);
}

void Client::hear_of_death(const Process& process) {
  for (Wait& wait : waits_) {
    if (std::ranges::find(wait.in_the_way, process) != wait.in_the_way.end()) wait.woken = true;
  }
}

void Client::hear_of_restart() {
  for (Wait& wait : waits_) wait.woken = true;
}

std::vector<Belief> Client::beliefs() const {
  std::vector<Belief> good = world_.beliefs.of(index_);
  std::erase_if(good, [&](const Belief& belief) { return belief.deadline <= world_.now(); });
  return good;
}

std::optional<Belief> Client::some_belief(Mode mode) {
  std::vector<Belief> good = beliefs();
  std::erase_if(good, [&](const Belief& belief) { return belief.mode != mode; });
  if (good.empty()) return std::nullopt;
  return world_.dice.pick(good);
}

}  // namespace leasehold::simulation
