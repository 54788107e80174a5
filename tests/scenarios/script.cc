#include "scenarios/script.h"

#include <algorithm>

namespace leasehold::scenario {
namespace {

constexpr std::string_view kArrow = "->";
constexpr std::string_view kBlank = " \t";

using Problem = std::string;

// A word of a line; `name` is set if it is name=value.
struct Piece {
  std::string name;
  std::string value;
};

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

class LineReader {
 public:
  explicit LineReader(std::string_view rest) : rest_(rest) {}

  std::size_t left() const { return rest_.size(); }

  // False at the end of the line.
  bool skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlank), rest_.size()));
    return !rest_.empty();
  }

  bool take_arrow() {
    const bool found = rest_.starts_with(kArrow);
    if (found) rest_.remove_prefix(kArrow.size());
    return found;
  }

  std::expected<Piece, Problem> take_piece() {
    Piece piece;
    const std::size_t equals = rest_.find('=');
    if (equals < rest_.find_first_of(" \t\"") && is_name(rest_.substr(0, equals))) {
      piece.name = rest_.substr(0, equals);
      rest_.remove_prefix(equals + 1);
    }
    if (rest_.starts_with('"')) {
      const std::size_t end = rest_.find('"', 1);
      if (end == std::string_view::npos) return std::unexpected("a quote is not closed");
      piece.value = rest_.substr(1, end - 1);
      rest_.remove_prefix(end + 1);
    } else {
      const std::size_t end = std::min(rest_.find_first_of(kBlank), rest_.size());
      piece.value = rest_.substr(0, end);
      rest_.remove_prefix(end);
    }
    return piece;
  }

 private:
  std::string_view rest_;
};

std::expected<std::optional<Phrase>, Problem> parse_phrase(LineReader& line) {
  std::optional<Phrase> phrase;
  while (line.skip_blanks()) {
    const auto piece = line.take_piece();
    if (!piece) return std::unexpected(piece.error());
    if (!phrase) {
      if (!piece->name.empty())
        return std::unexpected("an answer starts with a word, not with " + piece->name + "=");
      phrase = Phrase{piece->value, {}};
    } else if (piece->name.empty()) {
      return std::unexpected("an answer has one word; '" + piece->value + "' is a second one");
    } else {
      phrase->pairs.push_back({piece->name, piece->value});
    }
  }
  return phrase;
}

std::expected<Step, Problem> parse_step(const std::string& text) {
  Step step;
  LineReader line(text);
  step.text = text;
  while (line.skip_blanks()) {
    const std::size_t here = text.size() - line.left();
    if (line.take_arrow()) {
      step.has_arrow = true;
      step.text = text.substr(0, here);
      auto expected = parse_phrase(line);
      if (!expected) return std::unexpected(expected.error());
      step.expected = std::move(*expected);
      break;
    }
    const auto piece = line.take_piece();
    if (!piece) return std::unexpected(piece.error());
    if (piece->name.empty()) {
      step.words.push_back(piece->value);
    } else {
      step.options.push_back({piece->name, piece->value});
    }
  }
  if (step.words.empty()) return std::unexpected("a step starts with what is done");
  step.text.resize(step.text.find_last_not_of(kBlank) + 1);
  return step;
}

std::expected<void, Problem> add_row(Script& script, const std::string& text, int number) {
  if (script.steps.empty() || !script.steps.back().has_arrow) {
    return std::unexpected("an indented line is a row of an answer, and there is none before it");
  }
  LineReader line(text);
  auto row = parse_phrase(line);
  if (!row) return std::unexpected(row.error());
  script.steps.back().expected_rows.push_back(**row);
  script.steps.back().last_line = number;
  return {};
}

std::expected<void, Problem> add_step(Script& script, const std::string& text, int number) {
  auto step = parse_step(text);
  if (!step) return std::unexpected(step.error());
  step->line = step->last_line = number;
  script.steps.push_back(std::move(*step));
  return {};
}

}  // namespace

const std::string* Phrase::find(std::string_view name) const {
  const auto found = std::ranges::find(pairs, name, &Pair::name);
  return found == pairs.end() ? nullptr : &found->value;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::expected<Script, BadScript> parse_script(std::string_view text) {
  Script script;
  int number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    const std::size_t start = line.find_first_not_of(kBlank);
    if (number == 1) {
      const bool is_sentence =
          line.starts_with("# ") && line.find_first_not_of(kBlank, 1) != std::string::npos;
      if (!is_sentence)
        return std::unexpected(BadScript{1, "the first line is '# ' and the behaviour in one sentence"});
      script.behaviour = line.substr(2);
      continue;
    }
    if (start == std::string::npos || line[start] == '#') continue;
    const auto added = start > 0 ? add_row(script, line, number) : add_step(script, line, number);
    if (!added) return std::unexpected(BadScript{number, added.error()});
  }
  if (script.steps.empty()) return std::unexpected(BadScript{number, "there is no step"});
  return script;
}

std::string quoted(std::string_view value) {
  const bool plain = !value.empty() && value.find_first_of(" \t\"") == std::string_view::npos;
  return plain ? std::string(value) : '"' + std::string(value) + '"';
}

std::string to_text(const Phrase& phrase) {
  std::string text = phrase.word;
  for (const Pair& pair : phrase.pairs) text += ' ' + pair.name + '=' + quoted(pair.value);
  return text;
}

}  // namespace leasehold::scenario
