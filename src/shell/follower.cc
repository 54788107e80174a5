#include "shell/follower.h"

#include <algorithm>
#include <utility>

#include "shell/builtins.h"
#include "shell/options.h"
#include "shell/parser.h"
#include "shell/place.h"
#include "shell/programs.h"
#include "shell/specials.h"
#include "util/path_text.h"
#include "util/unique.h"

namespace leasehold::shell {
namespace {

constexpr int kRunsMax = 30;  // Functions, bash -c and the like inside one another.

void add(Lines& all, Lines more) {
  if (!all || !more) {
    all.reset();
  } else {
    for (Argument& one : *more) all->push_back(std::move(one));
  }
}

// A text as the lines of it.
Lines lines_of(const Argument& text) {
  if (!text.is_known()) return std::nullopt;
  if (text.is_tree) return Arguments{text};
  constexpr std::size_t kTextMax = 256 << 10;  // Nobody names files in more.
  if (text.text.size() > kTextMax) return std::nullopt;
  Arguments lines;
  for (std::size_t begin = 0; begin < text.text.size();) {
    const std::size_t end = std::min(text.text.find('\n', begin), text.text.size());
    lines.push_back({.text = text.text.substr(begin, end - begin)});
    begin = end + 1;
  }
  return lines;
}

// while read -r line
struct Reading {
  std::string name;  // The one variable that a line is read into.
  Arguments marks;   // What a line ends at, if -d says so.
};

// Nothing: it is another command, or reads in a way of its own.
std::optional<Reading> reading(const Command& command, Expansion& expansion) {
  if (command.words.size() < 2 || expansion.text(command.words[0]).text != "read") return std::nullopt;
  Arguments words;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    words.push_back(expansion.text(command.words[i]));
    if (!words.back().is_text()) return std::nullopt;
  }
  const Split taken = split(words, {.values = "-a -d -i -n -N -p -t -u"});
  if (taken.operands.size() != 1 || taken.has("-a -n -N -u")) return std::nullopt;
  return Reading{.name = taken.operands[0].text, .marks = taken.values("-d")};
}

// [ -n "$line" ], for a last line that does not end.
bool is_test(const Command& command, Expansion& expansion) {
  if (command.kind == Command::Kind::test) return true;
  return !command.words.empty() && is_listed("[ test", expansion.text(command.words[0]).text);
}

// What the condition of a loop reads, if that is all it does.
std::optional<Reading> reading(const Script& condition, Expansion expansion) {
  if (condition.chains.size() != 1) return std::nullopt;
  const std::vector<Step>& steps = condition.chains[0].steps;
  for (const Step& step : steps) {
    const std::vector<Command>& commands = step.pipeline.commands;
    if (commands.size() != 1 || step.pipeline.negated || !commands[0].redirections.empty())
      return std::nullopt;
    if (&step != &steps.front() && (step.link != Link::or_else || !is_test(commands[0], expansion)))
      return std::nullopt;
  }
  return steps.empty() ? std::nullopt : reading(steps[0].pipeline.commands[0], expansion);
}

}  // namespace

Writes find_writes(std::string_view command, const Surroundings& around) {
  constexpr std::size_t kTextMax = std::size_t{1} << 20;
  Follower follower(around);
  if (command.size() > kTextMax) {
    follower.note_unseen("it is too long");
    return follower.take();
  }
  State state;
  state.folders = {simplified(around.folder)};
  follower.follow(command, state, std::nullopt);
  if (follower.budget().is_spent()) follower.note_unseen("it does too much to be followed");
  return follower.take();
}

Follower::Follower(const Surroundings& around)
    : files_(around.files), around_{.folder = around.folder, .home = around.home, .files = files_} {}

void Follower::note_write(Write write) {
  // Devices are nobody's; /dev/shm is a folder like others.
  if (write.path.starts_with("/dev/") && !write.path.starts_with("/dev/shm/")) return;
  if (!budget_.spend()) return;
  const auto known = std::ranges::find_if(writes_.files, [&](const Write& one) {
    return one.path == write.path && one.subtree == write.subtree && one.name == write.name &&
           one.is_deep == write.is_deep && one.among == write.among;
  });
  if (known != writes_.files.end()) {
    known->is_whole = known->is_whole || write.is_whole;
    return;
  }
  if (!write.subtree) files_.add_file(write.path);
  writes_.files.push_back(std::move(write));
}

void Follower::note_write(const State& state, const Argument& path, bool subtree, bool is_whole) {
  if (!path.is_known()) return note_unseen(path.why);
  if (path.text.empty() || path.text.contains('\0')) return;
  Write write = {.path = {}, .subtree = subtree || path.is_tree, .name = path.is_tree ? path.name : ""};
  // What is found under a name may be a folder, with all in it.
  write.is_deep = subtree && !write.name.empty() && !path.only_files;
  write.is_whole = is_whole && write.subtree && write.name.empty();
  if (path.text.starts_with('/')) {
    write.path = placed("/", path.text);
    return note_write(std::move(write));
  }
  if (!state.folder_why.empty()) return note_unseen(state.folder_why);
  for (const std::string& folder : state.folders) {
    write.path = placed(folder, path.text);
    note_write(write);
  }
}

void Follower::note_folder(const State& state, const Argument& path) {
  if (!path.is_text()) return;
  for (const std::string& folder : state.folders) {
    const std::string place = placed(folder, path.text);
    // mkdir -p makes those above as well.
    for (std::string_view made = place; !around_.files.is_folder(std::string(made));) {
      files_.add_folder(std::string(made));
      const std::size_t slash = made.rfind('/');
      made = made.substr(0, std::max(slash, std::size_t{1}));
      if (!budget_.spend()) return;
    }
  }
}

void Follower::note_work_tree(const State& state, const Argument& path) {
  if (!path.is_text()) return;
  note_folder(state, path);
  for (const std::string& folder : state.folders) {
    const std::string own = join(placed(folder, path.text), ".git");
    if (!files_.exists(own)) files_.add_file(own);
  }
}

void Follower::note_unseen(std::string why) {
  constexpr std::size_t kReasonsMax = 8;
  constexpr std::size_t kReasonMax = 200;
  why.resize(std::min(why.size(), kReasonMax));
  if (writes_.unseen.size() < kReasonsMax) add_unique(writes_.unseen, std::move(why));
}

Expansion Follower::expansion(State& state) {
  return {around_, state, budget_, [this, &state](const Script& script) { return output_of(script, state); }};
}

Lines Follower::output_of(const Script& script, const State& state) {
  State inside = state;
  const bool was_read = std::exchange(is_read_, true);
  Lines out = follow(script, inside, std::nullopt);
  is_read_ = was_read;
  return out;
}

Lines Follower::follow(std::string_view text, State& state, const Lines& in) {
  PieceParser parser(text, depth_);
  Lines out = Arguments{};
  while (const auto piece = parser.next()) add(out, follow(*piece, state, in));
  if (parser.problem().empty()) return out;
  note_unseen("it cannot be read: " + parser.problem());
  return std::nullopt;
}

Lines Follower::follow(const Script& script, State& state, const Lines& in) {
  if (depth_ >= kRunsMax) {
    note_unseen("it is nested too deeply");
    return std::nullopt;
  }
  ++depth_;
  Lines out = Arguments{};
  for (const Chain& chain : script.chains) {
    if (state.has_ended || budget_.is_spent()) break;
    if (chain.in_background) {
      State beside = state;
      add(out, follow_chain(chain, beside, in));
      is_sure_ = true;
    } else {
      add(out, follow_chain(chain, state, in));
    }
  }
  --depth_;
  return out;
}

Lines Follower::follow_chain(const Chain& chain, State& state, const Lines& in) {
  Lines out = Arguments{};
  // As it is if one of the steps behind && failed: it matters to what comes behind || and to what comes after
  // them all.
  std::optional<State> failed;
  for (const Step& step : chain.steps) {
    if (step.link == Link::or_else) {
      if (!failed && (is_sure_ || state.has_ended)) continue;
      State succeeded = state;
      state = after_failure(state);
      if (failed) state = either(std::move(state), *std::exchange(failed, std::nullopt));
      add(out, follow_pipeline(step.pipeline, state, in));
      state = either(either(State(state), after_failure(state)), std::move(succeeded));
      is_sure_ = false;
      continue;
    }
    if (state.has_ended) continue;
    if (step.link == Link::and_then && !is_sure_) {
      State now = after_failure(state);
      failed = failed ? either(*std::move(failed), std::move(now)) : std::move(now);
    }
    add(out, follow_pipeline(step.pipeline, state, in));
  }
  if (if_failed_) state = either(State(state), after_failure(state));
  if (failed) {
    state = either(std::move(state), *std::move(failed));
    is_sure_ = false;
  }
  return out;
}

State Follower::after_failure(const State& state) {
  return if_failed_ ? *std::exchange(if_failed_, std::nullopt) : state;
}

Lines Follower::follow_pipeline(const Pipeline& pipeline, State& state, const Lines& in) {
  Lines lines = in;
  if (pipeline.commands.size() == 1) {
    lines = follow_command(pipeline.commands[0], state, in);
  } else {
    const bool was_read = is_read_;
    for (const Command& command : pipeline.commands) {
      State inside = state;
      is_read_ = was_read || &command != &pipeline.commands.back();
      lines = follow_command(command, inside, std::move(lines));
    }
    is_read_ = was_read;
    is_sure_ = false;
    if_failed_.reset();
  }
  if (pipeline.negated) {
    is_sure_ = false;
    if (if_failed_) state = either(State(state), after_failure(state));
  }
  return lines;
}

Lines Follower::follow_command(const Command& command, State& state, Lines in) {
  is_sure_ = false;
  if_failed_.reset();
  if (!budget_.spend(1 + static_cast<long>(state.variables->size() / 8))) return std::nullopt;
  if (command.kind == Command::Kind::simple) return follow_simple(command, state, in);
  const bool prints = redirect(command, state, in);
  Lines out = follow_kind(command, state, in);
  return prints ? out : Arguments{};
}

Lines Follower::follow_kind(const Command& command, State& state, const Lines& in) {
  switch (command.kind) {
    case Command::Kind::group:
      return follow(command.body, state, in);
    case Command::Kind::subshell: {
      State inside = state;
      return follow(command.body, inside, in);
    }
    case Command::Kind::branches:
    case Command::Kind::choice:
      return follow_branches(command, state, in);
    case Command::Kind::loop:
      return follow_loop(command, state, in);
    case Command::Kind::each:
      return follow_each(command, state, in);
    case Command::Kind::function:
      state.functions.changed()[command.name] = command.definition;
      is_sure_ = true;
      return Arguments{};
    default:  // A test: only what is run to make its words matters.
      for (const Word& word : command.words) expansion(state).text(word);
      is_sure_ = false;
      return Arguments{};
  }
}

bool Follower::redirect(const Command& command, State& state, Lines& in) {
  bool prints = true;
  for (const Redirection& one : command.redirections) {
    switch (one.kind) {
      case Redirection::Kind::write: {
        const Argument file = expansion(state).text(one.target);
        // A pattern counts only if it matches one file; nobody writes that.
        note_write(state, file);
        if (one.fd == 1 || one.both) prints = false;
        break;
      }
      case Redirection::Kind::read: {
        Lines read;
        const std::vector<Part>& parts = one.target.parts;
        if (parts.size() == 1 && parts[0].kind == Part::Kind::pipe) {
          read = output_of(*parts[0].script, state);
        } else {
          read = lines_of_file(expansion(state).text(one.target), state);
        }
        if (one.fd == 0) in = std::move(read);
        break;
      }
      case Redirection::Kind::text: {
        const Argument text = expansion(state).text(one.text ? *one.text : one.target);
        if (one.fd == 0) in = lines_of(text);
        break;
      }
      case Redirection::Kind::duplicate:
        if (one.fd == 1) prints = false;
        break;
    }
  }
  return prints;
}

Lines Follower::lines_of_file(const Argument& file, const State& state) const {
  if (!file.is_text() || !state.folder_why.empty() || state.folders.size() != 1) return std::nullopt;
  auto text = around_.files.text(placed(state.folders[0], file.text));
  return text ? lines_of({.text = std::move(*text)}) : std::nullopt;
}

// To a text that is longer nothing is added: it would grow in a loop.
constexpr std::size_t kAppendedMax = std::size_t{64} << 10;

void Follower::assign(const Assignment& assignment, State& state) {
  Arguments values;
  for (const Word& word : assignment.values) {
    if (assignment.is_list) {
      expansion(state).add_arguments(word, values);
    } else {
      values.push_back(expansion(state).text(word));
    }
  }
  if (assignment.appends || assignment.is_item) {
    const auto known = state.variables->find(assignment.name);
    const bool is_known = known != state.variables->end() && !assignment.is_item;
    if (is_known && assignment.is_list) {
      values.insert(values.begin(), known->second.begin(), known->second.end());
    } else if (is_known && known->second.size() == 1 && known->second[0].is_text() && values[0].is_text() &&
               known->second[0].text.size() < kAppendedMax) {
      values[0].text.insert(0, known->second[0].text);
    } else {
      values = {{.why = "variable " + assignment.name}};
    }
  }
  if (assignment.is_list || assignment.is_item || values.size() != 1) {
    state.variables.changed()[assignment.name] = std::move(values);
  } else {
    state.set(assignment.name, std::move(values.front()));
  }
}

Lines Follower::follow_simple(const Command& command, State& state, const Lines& in) {
  Lines read = in;
  Arguments words;
  words.reserve(command.words.size());
  Expansion expand = expansion(state);
  for (const Word& word : command.words) expand.add_arguments(word, words);
  const bool prints = redirect(command, state, read);
  if (words.empty()) {
    for (const Assignment& assignment : command.assignments) assign(assignment, state);
    is_sure_ = command.redirections.empty();
    // $(<file)
    const bool reads = command.redirections.size() == 1 && command.assignments.empty() &&
                       command.redirections[0].kind == Redirection::Kind::read;
    return reads ? read : Arguments{};
  }
  // What stands in front holds for this command only; but declare name=(...) is one of those.
  if (command.assignments.empty()) {
    Lines out = run(std::move(words), state, read);
    return prints ? out : Arguments{};
  }
  const bool stays = is_declaration(words.front());
  const auto before = state.variables;
  const auto exported = state.exported;
  for (const Assignment& assignment : command.assignments) assign(assignment, state);
  for (const Assignment& assignment : command.assignments) {
    if (is_listed("GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE", assignment.name)) {
      note_unseen("a git folder elsewhere");
    }
  }
  const auto given = state.variables;
  if (!stays) {
    for (const Assignment& assignment : command.assignments) state.exported.changed().insert(assignment.name);
  }
  Lines out = run(std::move(words), state, read);
  if (!stays) {
    state.exported = exported;
    for (const Assignment& assignment : command.assignments) {
      const auto now = state.variables->find(assignment.name);
      // The command itself may have given it another value, which stays.
      if (now == state.variables->end() || now->second != given->find(assignment.name)->second) continue;
      const auto old = before->find(assignment.name);
      if (old == before->end()) {
        state.variables.changed().erase(assignment.name);
      } else {
        state.variables.changed()[assignment.name] = old->second;
      }
    }
  }
  return prints ? out : Arguments{};
}

Lines Follower::run(Arguments words, State& state, const Lines& in) {
  is_sure_ = false;
  if (words.empty() || !budget_.spend()) return std::nullopt;
  if (depth_ >= kRunsMax) {
    note_unseen("it is nested too deeply");
    return std::nullopt;
  }
  const Argument& program = words.front();
  if (!program.is_text()) {
    note_unseen("which program runs: " + (program.is_tree ? "one that is found" : program.why));
    return std::nullopt;
  }
  if (const auto function = state.functions->find(program.text); function != state.functions->end()) {
    const auto definition = function->second;
    return follow_function(*definition, std::move(words), state, in);
  }
  ++depth_;
  Lines out;
  if (const Builtin* builtin = find_builtin(program.text)) {
    out = builtin->run({*this, state, words, in});
  } else {
    out = run_program({*this, state, words, in});
    if_failed_.reset();  // Of a cd that it stands for: it fails as a whole.
  }
  --depth_;
  return out;
}

Lines Follower::follow_function(const Command& definition, Arguments words, State& state, const Lines& in) {
  words.erase(words.begin());
  std::swap(state.positional, words);
  ++depth_;
  Lines out = follow_command(definition, state, in);
  --depth_;
  std::swap(state.positional, words);
  is_sure_ = false;
  if_failed_.reset();
  return out;
}

Lines Follower::follow_branches(const Command& command, State& state, const Lines& in) {
  for (const Word& word : command.words) expansion(state).text(word);
  Lines out = Arguments{};
  State result;
  result.has_ended = true;
  bool has_else = false;
  for (const Branch& branch : command.branches) {
    add(out, follow(branch.condition, state, in));
    has_else = command.kind == Command::Kind::branches && branch.condition.chains.empty();
    State inside = state;
    add(out, follow(branch.body, inside, in));
    result = either(std::move(result), std::move(inside));
  }
  state = has_else ? std::move(result) : either(std::move(result), std::move(state));
  is_sure_ = false;
  return out;
}

Lines Follower::follow_each(const Command& command, State& state, const Lines& in) {
  Arguments items;
  for (const Word& word : command.words) expansion(state).add_arguments(word, items);
  if (!command.has_list) items = state.positional;
  Lines out = Arguments{};
  for (const Argument& item : items) {
    if (budget_.is_spent()) break;
    State before = state;
    state.set(command.name, item);
    add(out, follow(command.body, state, in));
    // It may have been left early.
    state = either(std::move(state), std::move(before));
  }
  is_sure_ = false;
  return out;
}

Lines Follower::follow_loop(const Command& command, State& state, const Lines& in) {
  Lines out = Arguments{};
  const auto reads = reading(command.condition, expansion(state));
  if (const Lines lines = reads ? pieces_read(reads->marks, in) : std::nullopt) {
    for (const Argument& line : *lines) {
      if (budget_.is_spent()) break;
      State inside = state;
      inside.variables.changed()[reads->name] = {line};
      add(out, follow(command.body, inside, std::nullopt));
      state = either(std::move(state), std::move(inside));
    }
    is_sure_ = false;
    return out;
  }
  // What one pass changes the next one begins with: after the second nothing known is left that could change.
  for (int pass = 0; pass < 2; ++pass) {
    State inside = state;
    add(out, follow(command.condition, inside, in));
    add(out, follow(command.body, inside, in));
    state = either(std::move(state), std::move(inside));
  }
  is_sure_ = false;
  return out;
}

}  // namespace leasehold::shell
