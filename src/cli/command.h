// What a command is: the texts of its help, manual page and completion, and the function that does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold {

class Call;

struct OptionSpec {
  std::string_view names;       // "--ttl", or "-q,--quiet": the long one is what arguments are asked by.
  std::string_view value = {};  // What its value is called: DURATION. Empty: it takes none.
  std::string_view text;
  std::string_view choices = {};  // Every value there is, with blanks between; empty: anything.
  bool repeats = false;
};

// What stands on the command line without a name.
struct OperandSpec {
  std::string_view name;  // PATH. Empty: there are none.
  std::string_view text = {};
  std::size_t least = 0;
  std::size_t most = SIZE_MAX;
  std::string_view choices = {};
};

struct Example {
  std::string_view command;
  std::string_view text;
};

// Options that many commands share.
enum class Uses {
  nothing,    // Only what every command understands.
  workspace,  // Opens one.
  owner,      // Opens one, and acts for somebody.
};

struct Command {
  std::string_view name;
  std::string_view synopsis;  // Behind the name. Several forms: one per line.
  std::string_view summary;   // One line, imperative, no period.
  std::string_view description;
  Uses uses = Uses::workspace;
  OperandSpec operands = {};
  std::span<const OptionSpec> options = {};
  std::span<const Example> examples = {};
  // Behind "--" stands a command to run, not more operands.
  bool runs_command = false;
  bool takes_numbers = false;  // As its last operand.
  // Done by this program beside ours, which gets the same words. Empty: by `run`.
  std::string_view program = {};

  // Returns the exit status. An error is printed, and its code's exit status returned, by the caller.
  Result<int> (*run)(Call& call) = nullptr;
};

// All commands, in the order users see them.
std::span<const Command* const> commands();

// How many words stand in front of the command's name: options that most commands have, with their values.
std::size_t leading_options(std::span<const std::string_view> words);

// Null: there is none of this name.
const Command* find_command(std::string_view name);
// What to tell whoever asked for it.
Error no_such_command(std::string_view name);

// Every option that the command understands: its own, then the shared ones.
struct OptionGroup {
  std::string_view title;
  std::span<const OptionSpec> options;
};
struct OptionGroups {
  OptionGroup groups[4];
};
OptionGroups option_groups(const Command& command);

}  // namespace leasehold
