// How a decision becomes a transaction. For the manager's own files.
#pragma once

#include <optional>
#include <set>
#include <utility>

#include "manager/lease_manager.h"

namespace leasehold {

// Runs a decision. If it asked about processes that nobody looked at yet, its writes are dropped, the
// answers are found outside the transaction, and it runs again.
template <class Answer, class Begin, class Decide>
Result<Answer> LeaseManager::run(const Begin& begin, const Caller* caller, const Decide& decide) {
  Verdicts verdicts;
  if (caller != nullptr && caller->holder.process) {
    verdicts.learn(*caller->holder.process, {Liveness::alive, "it is asking"});
  }
  const std::shared_ptr<const Policy> current = policy();
  const Context context{*current, verdicts, environment_.random};
  for (;;) {
    std::optional<Result<Answer>> answer;
    std::set<Process> questions;
    const Result<void> done = begin([&](auto& transaction) -> Result<void> {
      answer = decide(transaction, context);
      questions = verdicts.take_questions();
      if (!questions.empty()) return fail(Code::unavailable, "looking at processes first");
      if (!*answer) return fail(answer->error());
      return {};
    });
    if (questions.empty()) {
      if (!done) return fail(done.error());
      return std::move(*answer);
    }
    for (const Process& process : questions) verdicts.learn(process, environment_.liveness.look_at(process));
  }
}

template <class Answer, class Decide>
Result<Answer> LeaseManager::change(const Footprint& footprint, const Caller* caller, const Decide& decide) {
  return run<Answer>([&](const Store::Body& body) { return store_.transact(footprint, body); }, caller,
                     decide);
}

template <class Answer, class Decide>
Result<Answer> LeaseManager::look(const Footprint& footprint, const Decide& decide, const Caller* caller) {
  return run<Answer>([&](const Store::Look& body) { return store_.view(footprint, body); }, caller, decide);
}

}  // namespace leasehold
