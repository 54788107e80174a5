// A scenario as text: one step a line, and what each is to be answered.
//
//   # A waiting writer is served before readers that came after it.
//   acquire ann src/api.h shared            -> granted token=t1
//   acquire bob src/api.h exclusive wait    -> queued position=1 by=ann
//
// README.md has the whole language. Here is only its form: words, name=value pairs, an arrow, and
// under it, indented, the rows of an answer that has several.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::scenario {

struct Pair {
  std::string name;
  std::string value;

  bool operator==(const Pair&) const = default;
};

// A word and its pairs: "granted token=t1".
struct Phrase {
  std::string word;
  std::vector<Pair> pairs;

  const std::string* find(std::string_view name) const;
};

struct Step {
  int line = 0;      // From 1.
  std::string text;  // As written, without the arrow and what follows.
  std::vector<std::string> words;
  std::vector<Pair> options;

  bool has_arrow = false;
  std::optional<Phrase> expected;  // Nothing: the arrow points to nothing yet.
  std::vector<Phrase> expected_rows;
  int last_line = 0;  // Of its rows.
};

struct Script {
  std::string behaviour;  // The sentence it starts with.
  std::vector<Step> steps;
};

struct BadScript {
  int line = 0;
  std::string message;
};

std::expected<Script, BadScript> parse_script(std::string_view text);

// Without a line's end; a last line need not have one.
std::vector<std::string> split_lines(std::string_view text);

// As it would be written in a script: in quotes where it has to be.
std::string quoted(std::string_view value);
std::string to_text(const Phrase& phrase);

}  // namespace leasehold::scenario
