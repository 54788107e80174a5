// Random runs of the lease manager beside a model that is too plain to be wrong. After every step both
// must have answered the same, and the whole board must be the same.
//
// A failure prints the shortest run that shows it. RC_PARAMS="reproduce=..." (printed too) replays it, and
// RC_PARAMS="max_success=10000" looks harder.
#include "property/model.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "property/machine.h"
#include "property/operation.h"

namespace leasehold::property {
namespace {

std::string lines(const std::vector<std::string>& board) { return fmt::format("{}", fmt::join(board, "\n")); }

std::vector<int> sorted(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

class Run {
 public:
  void step(Operation operation) {
    // Whoever asks is alive, and nobody else can see it: what dee knows of itself others do not, and then
    // what holds depends on who looks.
    if (operation.agent == kOutOfSight) {
      operation.attended = false;
      if (operation.verb == Verb::turn_started) operation.verb = Verb::turn_stopped;
    }
    const bool can_be_late = !model_.anybody_waits();
    if (!can_be_late && operation.attention == Attention::late) operation.attention = Attention::sweep;
    // What is over blocks nobody, noticed or not. All else may depend on who noticed first.
    const bool stays_late = can_be_late && (operation.verb == Verb::acquire || operation.verb == Verb::check);
    const bool was_late = machine_.is_late();
    if (!stays_late) machine_.catch_up();

    const Machine::Named named = {model_.token_named(operation), model_.ticket_named(operation)};
    const std::string expected = model_.apply(operation);
    const std::string answer = machine_.apply(operation, named, model_);
    RC_ASSERT(answer == expected);
    const bool is_late =
        machine_.is_late() && (operation.verb == Verb::advance || operation.verb == Verb::kill);
    if (is_late) return;

    const std::optional<int> told = machine_.take_told_last();
    const bool is_call = operation.verb != Verb::advance && operation.verb != Verb::kill;
    const bool was_told = told == operation.agent && is_call;
    if (was_told && !(was_late && stays_late)) compare_notices(operation);
    machine_.catch_up();
    compare();
  }

  void finish() {
    machine_.catch_up();
    compare();
  }

 private:
  void compare() {
    const std::vector<int> woken = sorted(machine_.take_woken());
    RC_ASSERT(woken == sorted(model_.take_woken()));
    // In the model everybody can be seen, or comes at once for what it got.
    machine_.collect(woken, model_);
    RC_ASSERT(lines(machine_.board(model_)) == lines(model_.board()));
    RC_ASSERT(machine_.broken_promise() == std::string());
  }

  // Told once, and all of it with the next answer. Only who gives one back is told of others by a later call.
  void compare_notices(const Operation& operation) {
    const auto& heard = machine_.notices(operation.agent);
    const auto& happened = model_.notices(operation.agent);
    if (operation.verb == Verb::release) {
      RC_ASSERT(std::ranges::includes(happened, heard));
    } else {
      RC_ASSERT(heard == happened);
    }
  }

  Model model_;
  Machine machine_;
};

RC_GTEST_PROP(Manager, DoesWhatTheModelDoes, ()) {
  const auto operations = *rc::gen::container<std::vector<Operation>>(any_operation());

  Run run;
  for (const Operation& operation : operations) run.step(operation);
  run.finish();
}

}  // namespace
}  // namespace leasehold::property
