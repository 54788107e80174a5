// How a decision becomes a transaction. For the manager's own files.
#pragma once

#include <optional>
#include <utility>

#include "manager/lease_manager.h"

namespace leasehold {

template <class Answer, class Begin, class Decide>
Result<Answer> LeaseManager::run(const Begin& begin, const Caller* caller, const Decide& decide) {
  Verdicts verdicts([this](const Process& process) { return environment_.liveness.look_at(process); });
  if (caller != nullptr && caller->holder.process) {
    verdicts.learn(*caller->holder.process, {Liveness::alive, "it is asking"});
  }
  const std::shared_ptr<const Policy> current = policy();
  const Context context{*current, verdicts, environment_.random, options_.withholds && options_.withholds()};
  std::optional<Result<Answer>> answer;
  const Result<void> done = begin([&](auto& transaction) -> Result<void> {
    answer = decide(transaction, context);
    if (!*answer) return fail(answer->error());
    return {};
  });
  if (!done) return fail(done.error());
  return std::move(*answer);
}

template <class Answer, class Decide>
Result<Answer> LeaseManager::change(const Footprint& footprint, const Caller* caller, const Decide& decide) {
  const auto begin = [&](const Store::Body& body) {
    return store_.transact(footprint, [&](Transaction& transaction) -> Result<void> {
      auto done = body(transaction);
      if (done) note_left_out_history(transaction);
      return done;
    });
  };
  return run<Answer>(begin, caller, decide);
}

template <class Answer, class Decide>
Result<Answer> LeaseManager::look(const Footprint& footprint, const Decide& decide, const Caller* caller) {
  return run<Answer>([&](const Store::Look& body) { return store_.view(footprint, body); }, caller, decide);
}

}  // namespace leasehold
