// From words as they are written to the arguments that a program gets.
#pragma once

#include <functional>

#include "shell/budget.h"
#include "shell/find_writes.h"
#include "shell/value.h"

namespace leasehold::shell {

class Expansion {
 public:
  // What a script in $( ) prints.
  using Run = std::function<Lines(const Script&)>;

  // All of them outlive this.
  Expansion(const Surroundings& around, State& state, Budget& budget, Run run)
      : around_(around), state_(state), budget_(budget), run_(std::move(run)) {}

  // Braces, tilde, variables, output of commands, splitting, patterns.
  void add_arguments(const Word& word, Arguments& arguments);
  // Without braces, splitting and patterns, as behind a = or a <<<.
  Argument text(const Word& word);

 private:
  struct Building {
    Argument made;
    std::string pattern;  // The text, with what is quoted escaped.
    bool is_pattern = false;
    bool is_begun = false;
  };

  void add(const std::vector<Part>& parts, bool splits, std::vector<Building>& fields);
  void append_text(Argument& made, std::string_view text);
  void add_values(const Arguments& values, const Part& part, bool splits, std::vector<Building>& fields);
  void add_split(const Argument& value, std::vector<Building>& fields);
  void finish(Building& field, Arguments& arguments);
  Arguments tilde(std::vector<Part>& parts);
  Arguments value_of(const Part& part);
  Arguments changed(Arguments values, const Part& part);
  // What parts mean as a pattern: what is quoted stands for itself. Nothing: not known.
  std::optional<std::string> pattern_of(const std::vector<Part>& parts);
  Arguments variable(const std::string& name) const;
  Arguments item(const std::string& list, const std::string& index) const;
  Arguments output_of(const Part& part);

  const Surroundings& around_;
  State& state_;
  Budget& budget_;
  Run run_;
};

}  // namespace leasehold::shell
