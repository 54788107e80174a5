// Follows a command line as a shell would, and notes what it writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "shell/budget.h"
#include "shell/find_writes.h"
#include "shell/overlay.h"
#include "shell/syntax.h"
#include "shell/value.h"
#include "shell/words.h"

namespace leasehold::shell {

class Follower {
 public:
  explicit Follower(const Surroundings& around);

  // Each returns what is printed. `in`: what can be read.
  Lines follow(std::string_view text, State& state, const Lines& in);
  Lines follow(const Script& script, State& state, const Lines& in);
  // A command whose words are known: what xargs, env and functions come to.
  Lines run(Arguments words, State& state, const Lines& in);

  // What programs do (programs.h).
  void note_write(const State& state, const Argument& path, bool subtree = false, bool is_whole = false);
  void note_write(Write write);
  void note_folder(const State& state, const Argument& path);
  void note_unseen(std::string why);
  // The command that runs now cannot fail, as far as anybody can tell; what follows || is not run.
  void note_success() { is_sure_ = true; }
  // The command that runs now may fail, and the shell then stands here.
  void note_if_failed(State state) { if_failed_ = std::move(state); }
  // A folder that becomes the top of a work tree, with files that nobody knows yet.
  void note_work_tree(const State& state, const Argument& path);
  // Of git's own, which nobody leases: its text is not known any more.
  void note_own(const std::string& path) { files_.add_file(path); }
  // Whether a file is of the line's own making.
  bool is_made(const std::string& path) const { return files_.is_added(path); }

  // Whether anybody reads what the command that runs now prints: another command, or the line itself.
  bool is_read() const { return is_read_; }

  const FolderView& files() const { return files_; }
  const std::string& home() const { return around_.home; }
  Budget& budget() { return budget_; }
  Writes take() { return std::move(writes_); }

 private:
  Lines follow_chain(const Chain& chain, State& state, const Lines& in);
  // Where the shell stands if what ran last failed.
  State after_failure(const State& state);
  Lines follow_pipeline(const Pipeline& pipeline, State& state, const Lines& in);
  Lines follow_command(const Command& command, State& state, Lines in);
  Lines follow_kind(const Command& command, State& state, const Lines& in);
  Lines follow_simple(const Command& command, State& state, const Lines& in);
  Lines follow_each(const Command& command, State& state, const Lines& in);
  Lines follow_loop(const Command& command, State& state, const Lines& in);
  Lines follow_branches(const Command& command, State& state, const Lines& in);
  Lines follow_function(const Command& definition, Arguments words, State& state, const Lines& in);
  // False: what is printed goes to a file or away.
  bool redirect(const Command& command, State& state, Lines& in);
  Lines lines_of_file(const Argument& file, const State& state) const;
  void assign(const Assignment& assignment, State& state);
  Expansion expansion(State& state);
  // What a script prints, which is read.
  Lines output_of(const Script& script, const State& state);

  Overlay files_;
  Surroundings around_;  // As given, but with the files as they will be.
  Budget budget_;
  Writes writes_;
  int depth_ = 0;
  bool is_sure_ = false;
  std::optional<State> if_failed_;
  bool is_read_ = false;
};

}  // namespace leasehold::shell
