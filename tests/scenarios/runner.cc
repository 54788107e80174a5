#include "scenarios/runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenarios/answer.h"
#include "scenarios/verbs.h"
#include "scenarios/world.h"

namespace leasehold::scenario {
namespace {

Verb find_verb(const std::string& name) {
  const std::vector<Verb> verbs = all_verbs();
  const auto found = std::ranges::find(verbs, name, &Verb::name);
  if (found != verbs.end()) return *found;
  std::string known;
  for (const Verb& verb : verbs) known += ' ' + std::string(verb.name);
  throw BadStep(fmt::format("there is no '{}'; a step is one of:{}", name, known));
}

// The lines of a script, of which some get another answer.
class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : lines_(split_lines(text)) {}

  void set_answer(const Step& step, const std::vector<std::string>& answer) {
    changes_.push_back({step.line, step.last_line, lines_of(step, answer)});
  }

  std::string text() const {
    std::string text;
    int line = 1;
    const auto copy_until = [&](int end) {
      for (; line < end; ++line) text += lines_[static_cast<std::size_t>(line - 1)] + '\n';
    };
    for (const Change& change : changes_) {
      copy_until(change.first_line);
      for (const std::string& one : change.lines) text += one + '\n';
      line = change.last_line + 1;
    }
    copy_until(static_cast<int>(lines_.size()) + 1);
    return text;
  }

 private:
  struct Change {
    int first_line;
    int last_line;
    std::vector<std::string> lines;
  };

  // What stands before the arrow stays as it is, blanks included.
  std::vector<std::string> lines_of(const Step& step, std::vector<std::string> answer) const {
    const std::string& line = lines_[static_cast<std::size_t>(step.line - 1)];
    const std::size_t arrow = line.find("->", step.text.size());
    answer.front() = line.substr(0, arrow) + (arrow == std::string::npos ? " -> " : "-> ") + answer.front();
    return answer;
  }

  std::vector<std::string> lines_;
  std::vector<Change> changes_;
};

// Does one step, and adds who was woken to its answer.
std::optional<Answer> perform(World& world, const Step& step) {
  const Verb verb = find_verb(step.words.front());
  const Arguments arguments = sort_out(step, verb);
  std::optional<Answer> answer = verb.run(world, arguments);
  std::string problem;
  const std::vector<std::string> woken = world.take_woken(problem);
  if (!problem.empty()) throw BadStep("whoever is granted is woken, and nobody else: " + problem);
  if (!answer && step.has_arrow)
    throw BadStep(fmt::format("'{}' is not answered; take the arrow away", verb.name));
  if (answer && !woken.empty())
    answer->head.pairs.push_back({"wakes", fmt::format("{}", fmt::join(woken, ","))});
  return answer;
}

std::string mismatch(const Step& step, const std::vector<std::string>& actual, const Answer& answer) {
  const std::string between = "\n            ";
  return fmt::format("{}\n  expected: -> {}\n  answered: -> {}\n  in full:  -> {}", step.text,
                     fmt::join(expected_lines(step), between), fmt::join(actual, between), all_of(answer));
}

}  // namespace

Played play(std::string_view text, const StoreFactory& store, bool served) {
  Played played = {.failures = {}, .rewritten = std::string(text)};
  const auto script = parse_script(text);
  if (!script) {
    played.failures.push_back({script.error().line, script.error().message});
    return played;
  }
  World world(store, served);
  Rewriter rewriter(text);
  for (const Step& step : script->steps) {
    try {
      const std::optional<Answer> answer = perform(world, step);
      if (!answer) continue;
      const std::vector<std::string> actual = answer_lines(step, *answer);
      if (actual == expected_lines(step)) continue;
      played.failures.push_back({step.line, mismatch(step, actual, *answer)});
      rewriter.set_answer(step, actual);
    } catch (const BadStep& bad) {
      played.failures.push_back({step.line, fmt::format("{}\n  {}", step.text, bad.what())});
      break;
    }
  }
  for (const std::string& wrong : {world.check_tokens(), world.check_store()}) {
    if (!wrong.empty()) played.failures.push_back({script->steps.back().line, wrong});
  }
  played.rewritten = rewriter.text();
  return played;
}

}  // namespace leasehold::scenario
