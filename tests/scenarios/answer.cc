#include "scenarios/answer.h"

#include <algorithm>

namespace leasehold::scenario {
namespace {

constexpr std::string_view kSays = "says";

// To be mentioned whenever they are there.
constexpr std::string_view kNeverLeftOut[] = {"wakes", "notices"};

std::optional<std::string> value_of(const Answer& answer, std::string_view name) {
  if (const std::string* value = answer.head.find(name)) return *value;
  std::optional<std::string> joined;
  for (const Phrase& row : answer.rows) {
    const std::string* value = row.find(name);
    if (value == nullptr) continue;
    if (!joined) joined = "";
    join(*joined, *value);
  }
  return joined;
}

// What the message says instead of `expected`: that itself, if it is in there.
std::string said(const std::string& message, const std::string& expected) {
  return !expected.empty() && message.find(expected) != std::string::npos ? expected : message;
}

Phrase head_as_expected(const Answer& answer, const Phrase& expected) {
  Phrase actual = {answer.head.word, {}};
  for (const auto& [name, value] : expected.pairs) {
    if (name == kSays) {
      actual.pairs.push_back({name, said(answer.message, value)});
    } else if (const auto found = value_of(answer, name)) {
      actual.pairs.push_back({name, *found});
    }
  }
  for (const std::string_view name : kNeverLeftOut) {
    const std::string* value = answer.head.find(name);
    if (value != nullptr && actual.find(name) == nullptr) actual.pairs.push_back({std::string(name), *value});
  }
  return actual;
}

Phrase row_as_expected(const Phrase& row, const Phrase& expected) {
  Phrase actual = {row.word, {}};
  for (const auto& [name, value] : expected.pairs) {
    const std::string* found = row.find(name);
    if (found == nullptr) continue;
    actual.pairs.push_back({name, name == kSays ? said(*found, value) : *found});
  }
  return actual;
}

std::string row_line(const Phrase& row) { return "  " + to_text(row); }

}  // namespace

void join(std::string& list, std::string_view value) {
  for (std::size_t start = 0; !list.empty() && start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    if (std::string_view(list).substr(start, end - start) == value) return;
    start = end + 1;
  }
  if (!list.empty()) list += ',';
  list += value;
}

void add_row(Answer& answer, Phrase row) {
  join(answer.head.word, row.word);
  answer.rows.push_back(std::move(row));
}

std::vector<std::string> answer_lines(const Step& step, const Answer& answer) {
  std::vector<std::string> lines;
  lines.push_back(to_text(step.expected ? head_as_expected(answer, *step.expected) : answer.head));
  if (step.expected_rows.empty()) return lines;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    // A row too many is shown in the words of the last one.
    const Phrase& expected = step.expected_rows[std::min(i, step.expected_rows.size() - 1)];
    lines.push_back(row_line(row_as_expected(answer.rows[i], expected)));
  }
  return lines;
}

std::vector<std::string> expected_lines(const Step& step) {
  std::vector<std::string> lines;
  lines.push_back(step.expected ? to_text(*step.expected) : "");
  for (const Phrase& row : step.expected_rows) lines.push_back(row_line(row));
  return lines;
}

std::string all_of(const Answer& answer) {
  std::string text = to_text(answer.head);
  if (!answer.message.empty()) text += " says=" + quoted(answer.message);
  for (const Phrase& row : answer.rows) text += '\n' + row_line(row);
  return text;
}

}  // namespace leasehold::scenario
