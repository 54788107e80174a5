// What programs write, as a table. A program that is not in it cannot be seen through.
#pragma once

#include <span>
#include <string_view>

#include "shell/call.h"
#include "shell/options.h"

namespace leasehold::shell {

// Which of a program's operands it writes.
enum class Operands {
  none,
  each,         // With all below where it is a folder.
  after_first,  // The first is a script or a mode; unless `script` gives it.
  first,
  second,
  last,
  copy,  // The last one, or in it if it is a folder; or in the folder of `into`.
  move,  // The same, and what is moved.
  link,  // Like copy; a single one is linked to from here.
  here,  // Any file below the folder of `into`, or below this one.
};

struct Program {
  std::string_view name;  // "sed"; "npm install"
  Operands operands = Operands::none;
  Syntax syntax;
  std::string_view writes_if;    // It writes operands only with one of these options.
  std::string_view reads_if;     // It writes nothing with one of these.
  std::string_view outputs;      // Options whose value is a file it writes.
  std::string_view into;         // Options whose value is the folder it writes in.
  std::string_view tree_if;      // With one of these it goes into folders.
  std::string_view script;       // Options that stand in for the first operand.
  std::string_view backup;       // Options whose value is a suffix under which the old content is kept.
  std::string_view suffixes;     // Other names of what it writes: ".gz" of gzip's.
  std::string_view keys;         // Operands that begin so name a file: "of=" of dd's.
  std::string_view beside;       // Files of a project that it writes, at or above this folder.
  std::string_view adds;         // The same, but only if it has operands.
  std::string_view around;       // With one of these, package.json is in other folders.
  std::string_view frozen_if;    // With one of these, of all those only the folders.
  std::string_view unlocked_if;  // With one of these, no lock files.
  std::string_view alone;        // Files that it writes in this folder if it has no operands.
  std::string_view here;       // Files that it writes in this folder; with a ? behind, if they are not there.
  std::string_view without;    // What it writes if it has no operand.
  std::string_view names;      // Of files below a folder it writes only these.
  std::string_view folder;     // Options whose value is where it works, or a file there.
  bool globs = false;          // Operands may be patterns, which it matches by itself.
  bool runs_bins = false;      // A command that it does not know is a script, or a program of a package.
  std::string_view unseen_if;  // Options that make it do more than can be seen; "*" it always does.
  std::string_view unseen_unless;         // The same without one of these.
  std::string_view why = "what it runs";  // The reason for that.
};

// Some programs are no more than options in front of another command.
struct Wrapper {
  std::string_view name;
  std::string_view values;   // Options whose value follows.
  int operands = 0;          // That stand before the command.
  std::string_view folder;   // Options whose value is where it runs.
  std::string_view outputs;  // Options whose value is a file it writes.
  bool assigns = false;      // NAME=value may stand before the command.
  bool packages = false;     // The command is named as its package is, with a version maybe.
  bool makes = false;        // Its first operand is a file, which it makes if it is not there.
  std::string_view script;   // Options whose value is a line for a shell, in place of the command.
  std::string_view words;    // Options whose value is words of the command.
  std::string_view around;   // Options with which it runs in other folders.
};

std::span<const Program> file_programs();     // programs.cc, in the order of their names
std::span<const Program> package_programs();  // package_programs.cc
// As the table names what `program` calls `word`: install for npm's i.
std::string_view command_of_package(std::string_view program, std::string_view word);
std::span<const Program> project_programs();  // project_programs.cc
const Wrapper* find_wrapper(std::string_view name);

// A program, not one of the shell's own commands.
Lines run_program(const Call& call);

// One line of the table. `words`: without the name.
void run_row(const Program& row, const Call& call, std::span<const Argument> words);

}  // namespace leasehold::shell
