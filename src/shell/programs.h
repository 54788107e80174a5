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
  after_second,
  first,
  second,
  last,
  copy,    // The last one, or in it if it is a folder; or in the folder of `into`.
  move,    // The same, and what is moved.
  link,    // Like copy; a single one is linked to from here.
  here,    // Any file below the folder of `into`, or below this one.
  begins,  // Files whose names begin as the value of `prefix` does, or the second one; else as `without`.
};

struct Program {
  std::string_view name;  // "sed"; "npm install"
  Operands operands = Operands::none;
  Syntax syntax;
  std::string_view writes_if;   // It writes operands only with one of these options.
  std::string_view reads_if;    // It writes nothing with one of these.
  std::string_view folders_if;  // With one of these its operands are folders that it makes.
  std::string_view outputs;     // Options whose value is a file it writes.
  std::string_view into;        // Options whose value is the folder it writes in.
  std::string_view outputs_in;  // Like outputs, but in the folder that `output_folder` names.
  std::string_view output_folder;
  std::string_view tree_if;       // With one of these it goes into folders.
  bool removes = false;           // Such a folder goes as a whole, with the work trees in it.
  std::string_view script;        // Options that stand in for the first operand.
  std::string_view backup;        // Options whose value is a suffix under which the old content is kept.
  std::string_view prefix;        // Options whose value is how the names of what it writes begin.
  std::string_view keeps_if;      // With one of these it writes the other names alone,
  std::string_view keeps_unless;  // or without one of these.
  // Other names of what it writes: ".gz" of gzip's, put behind or taken off; ".tgz=.tar" only taken off.
  std::string_view suffixes;
  std::string_view keys;         // Operands that begin so name a file: "of=" of dd's.
  std::string_view beside;       // Files of a project that it writes, at or above this folder.
  std::string_view adds;         // The same, but only if it has operands.
  std::string_view around;       // With one of these, package.json is in other folders.
  std::string_view frozen_if;    // With one of these, of all those only the folders.
  std::string_view unlocked_if;  // With one of these, no lock files.
  std::string_view alone;        // Files that it writes in this folder if it has no operands.
  std::string_view here;     // Files that it writes in this folder; with a ? behind, if they are not there.
  std::string_view without;  // What it writes if it has no operand.
  std::string_view names;    // Of files below a folder it writes only these: "*.py *.pyi".
  std::string_view unnamed_if;     // With one of these options, others as well;
  std::string_view settings;       // and with one of the words of `widens` in one of these files, at or above
  std::string_view widens;         // this folder.
  std::string_view tree_unseen;    // What else it may write below a folder.
  std::string_view folder;         // Options whose value is where it works, or a file there.
  bool globs = false;              // Operands may be patterns, which it matches by itself.
  std::string_view root;           // A file that is where `here` is, or above it: the nearest,
  std::string_view wide_if;        // or the one highest up with one of these options.
  bool has_commands = false;       // Rows of its own for some first words.
  bool runs_bins = false;          // A command that it does not know is a script, or a program of a package.
  std::string_view unseen_if;      // Options that make it do more than can be seen; "*" it always does.
  std::string_view unseen_unless;  // The same without one of these.
  std::string_view why = "what it runs";  // The reason for that.
  std::string_view new_if;                // With one of these alone it writes no file that is there.
  std::string_view ending;                // Of the name of what it writes, if that has no dot.
  std::string_view tests_if;              // With one of these and a single operand it writes nothing.
  bool makes = false;                     // An operand that is not there it makes.
  bool dash = false;  // A - is a file of that name; to others it is what they read or print.
};

// How a wrapper takes its command.
enum class Line {
  no,     // As words.
  alone,  // As words; one word alone is a line for a shell.
  all,    // All words together are a line for a shell.
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
  std::string_view here;     // A file that it makes in this folder, if there is none here or above.
  std::string_view behind;   // The command stands behind the first of these words.
  Line line = Line::no;
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
