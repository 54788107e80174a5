// How a client makes a call. Apart, because its actions stand in more than one file.
#pragma once

#include <fmt/format.h>

#include "simulation/client.h"

namespace leasehold::simulation {

template <class Answer>
void Client::call(const std::string& what, Call context, std::function<Answer()> ask,
                  std::function<void(const Answer&, Time asked)> hear) {
  const Time asked = world_.now();
  const auto go = [this, what, context = std::move(context), ask = std::move(ask), hear = std::move(hear),
                   asked, life = life_] {
    world_.trip_next_call();
    world_.checker.begin(context);
    const Answer answer = ask();
    world_.checker.end();
    const std::string late =
        asked == world_.now() ? "" : fmt::format(" (asked {} s ago)", seconds(world_.now() - asked));
    if constexpr (std::is_same_v<Answer, Result<AcquireAnswer>>) {
      world_.note(fmt::format("{} {}{} -> {}", role_.owner.agent_id, what, late,
                              world_.trace.text(answer, world_.now())));
    } else {
      world_.note(fmt::format("{} {}{} -> {}", role_.owner.agent_id, what, late, world_.trace.text(answer)));
    }
    const auto tell = [this, answer, hear, asked, life] {
      if (life == life_) hear(answer, asked);
    };
    if (world_.faults.slow_answers && world_.dice.chance(15)) {
      world_.note(fmt::format("{} does not hear that yet", role_.owner.agent_id));
      put_in_flight(tell);
    } else {
      tell();
    }
  };
  if (world_.faults.slow_requests && world_.dice.chance(15)) {
    world_.note(fmt::format("{} is stopped before it {}", role_.owner.agent_id, what));
    put_in_flight(go);
  } else {
    go();
  }
}

}  // namespace leasehold::simulation
