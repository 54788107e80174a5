#include <algorithm>

#include "shell/builtins.h"
#include "shell/characters.h"
#include "shell/place.h"
#include "shell/programs.h"
#include "shell/specials.h"
#include "util/path_text.h"

namespace leasehold::shell {
namespace {

// They read, print or ask; whatever they write is no file of anybody's.
constexpr std::string_view kReaders[] = {
    "[",          "ack",      "ag",     "alias",  "apropos", "arch",    "base32",    "base64",
    "basename",   "bat",      "bc",     "bg",     "break",   "cal",     "cat",       "chgrp",
    "chown",      "cksum",    "clear",  "cloc",   "cmp",     "column",  "comm",      "continue",
    "cut",        "date",     "df",     "diff",   "diff3",   "dig",     "dirname",   "dirs",
    "disown",     "du",       "echo",   "egrep",  "expand",  "expr",    "factor",    "false",
    "fg",         "fgrep",    "file",   "fmt",    "fold",    "free",    "getconf",   "getent",
    "getopts",    "grep",     "groups", "hash",   "head",    "hexdump", "host",      "hostname",
    "htop",       "id",       "jobs",   "join",   "jq",      "kill",    "killall",   "ldd",
    "lease",      "less",     "let",    "locale", "logname", "ls",      "lsof",      "man",
    "md5sum",     "mkdir",    "mktemp", "more",   "netstat", "nl",      "nm",        "nproc",
    "numfmt",     "objdump",  "od",     "paste",  "pgrep",   "ping",    "pkill",     "pr",
    "printenv",   "printf",   "ps",     "pstree", "pwd",     "readelf", "readlink",  "realpath",
    "return",     "rev",      "rg",     "rmdir",  "seq",     "sha1sum", "sha256sum", "sha512sum",
    "shellcheck", "shopt",    "size",   "sleep",  "ss",      "stat",    "strings",   "stty",
    "sum",        "sync",     "tac",    "tail",   "test",    "times",   "tokei",     "top",
    "tput",       "tr",       "tsort",  "tty",    "type",    "ulimit",  "umask",     "unalias",
    "uname",      "unexpand", "uptime", "users",  "vmstat",  "wait",    "wc",        "whatis",
    "whereis",    "which",    "who",    "whoami", "yes",     "zcat",    "zgrep",     "zless",
};

static_assert(std::ranges::is_sorted(kReaders));

constexpr std::string_view kProgramFolders[] = {"/bin",  "/usr/bin",  "/usr/local/bin",
                                                "/sbin", "/usr/sbin", "/opt/homebrew/bin"};

// Other names of programs.
struct Alias {
  std::string_view name;
  std::string_view others;
};
constexpr Alias kAliases[] = {
    {"awk", "gawk mawk"}, {"fd", "fdfind"}, {"gcc", "c++ cc clang clang++ g++"},
    {"sed", "gsed"},      {"tar", "gtar"},
};

std::string usual_name(const std::string& name) {
  const auto* found =
      std::ranges::find_if(kAliases, [&](const Alias& one) { return is_listed(one.others, name); });
  return found == std::end(kAliases) ? name : std::string(found->name);
}

bool is_reader(std::string_view name) {
  if (name.empty()) return false;
  // Letters are compared faster than words.
  const auto first = [](std::string_view one) { return one[0]; };
  return std::ranges::any_of(std::ranges::equal_range(kReaders, name[0], {}, first),
                             [&](std::string_view one) { return same_word(one, name); });
}

const Program* find_program(std::string_view name) {
  const auto files = file_programs();
  const auto file = std::ranges::lower_bound(files, name, {}, &Program::name);
  if (file != files.end() && file->name == name) return &*file;
  for (const std::span<const Program> table : {package_programs(), project_programs()}) {
    const auto found = std::ranges::find(table, name, &Program::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

// The name that the tables know a program by; empty: it is a file of its own.
std::string known_name(const std::string& text) {
  if (!text.contains('/')) return text;
  const std::string folder(parent_of(text));
  const bool is_usual = std::ranges::find(kProgramFolders, folder) != std::end(kProgramFolders);
  const bool is_package = folder.ends_with("node_modules/.bin") || folder.ends_with("venv/bin");
  return is_usual || is_package ? std::string(last_name(text)) : std::string();
}

// clang-format-19, python3.11
std::string without_version(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789.");
  if (end == std::string::npos || end + 1 == name.size()) return name;
  if (name[end] == '-') return name.substr(0, end);
  return name.starts_with("python3.") ? "python3" : name;
}

// prettier@3, @biomejs/biome@2.0: programs are named as their packages are.
std::string program_of_package(std::string name) {
  if (name.starts_with('@')) name.erase(0, std::min(name.find('/'), name.size() - 1) + 1);
  name.resize(std::min(name.find('@'), name.size()));
  return name;
}

// NAME=value, for the command behind it.
void export_variable(State& state, const Argument& word) {
  const std::size_t sign = word.text.find('=');
  Argument value = word;
  value.text.erase(0, sign + 1);
  value.splits = false;
  const std::string name = word.text.substr(0, sign);
  state.variables.changed()[name] = {std::move(value)};
  state.exported.changed().insert(name);
}

// env -S 'a b' c: with the words of a text in its place. Blanks between them are enough for most; what has
// quotes is not looked into.
Arguments spliced(const Wrapper& wrapper, std::span<const Argument> words) {
  Arguments all(words.begin(), words.end());
  for (auto word = all.begin(); word != all.end() && word->text.starts_with('-'); ++word) {
    Arguments texts = split({word, word + 1}, {.values = wrapper.values}).values(wrapper.words);
    const bool is_behind = is_listed(wrapper.values, word->text) && word + 1 != all.end();
    if (texts.empty()) {
      if (is_behind) ++word;
      continue;
    }
    if (is_behind) texts = {word[1]};
    if (!texts[0].is_text() || texts[0].text.find_first_of("'\"\\$#") != std::string::npos) break;
    const auto behind = all.erase(word, word + (is_behind ? 2 : 1));
    const Arguments made = split_at(texts, " \t\n");
    all.insert(behind, made.begin(), made.end());
    break;
  }
  return all;
}

// As one text, if it is known.
Argument joined(const Arguments& words) {
  Argument line;
  for (const Argument& word : words) {
    if (!word.is_text()) return {.why = word.is_tree ? "names that are put together" : word.why};
    line.text += (line.text.empty() ? "" : " ") + word.text;
  }
  return line;
}

// What takes a command or a line for a shell, with options of its own in front.
class Wrapped {
 public:
  Wrapped(const Wrapper& wrapper, const Call& call, std::span<const Argument> words)
      : wrapper_(wrapper),
        call_(call),
        command_at_(begin_of_command(wrapper, words)),
        taken_(split(spliced(wrapper, words.first(command_at_)),
                     {.values = wrapper.values, .operands_end = true})),
        command_(taken_.operands) {
    if (wrapper.behind.empty()) return;
    const std::span<const Argument> command = words.subspan(std::min(command_at_ + 1, words.size()));
    command_.assign(command.begin(), command.end());
  }

  Lines run() {
    Follower& follower = call_.follower;
    for (const Argument& file : taken_.values(wrapper_.outputs)) follower.note_write(call_.state, file);
    for (const Argument& folder : taken_.values(wrapper_.folder)) {
      change_directory(call_, folder);
    }
    if (!wrapper_.here.empty()) make_here();
    if (taken_.has(wrapper_.around)) call_.state.folder_why = "folders of packages";
    if (const Arguments lines = taken_.values(wrapper_.script); !lines.empty())
      return run_line(call_, lines.back());
    if (taken_.has(wrapper_.words)) {
      follower.note_unseen(std::string(wrapper_.name) + ": words in one text");
      return std::nullopt;
    }
    take_operands();
    if (command_.empty()) {
      const bool is_shell = taken_.has("-s -i") || wrapper_.line != Line::no;
      if (!wrapper_.behind.empty()) follower.note_unseen(std::string(wrapper_.name) + ": what it does");
      if (is_shell) follower.note_unseen(std::string(wrapper_.name) + ": a shell");
      return std::nullopt;
    }
    if (command_.size() > 1 && is_listed(wrapper_.script, command_[0].text))
      return run_line(call_, command_[1]);
    if (wrapper_.line == Line::all || (wrapper_.line == Line::alone && command_.size() == 1))
      return run_line(call_, joined(command_));
    if (wrapper_.packages) name_program();
    return follower.run(std::move(command_), call_.state, call_.in);
  }

 private:
  // Those that stand before the command.
  void take_operands() {
    const auto behind = [&](int count) { return static_cast<int>(command_.size()) > count; };
    if (wrapper_.makes && behind(1) && !is_there(command_[0]))
      call_.follower.note_write(call_.state, command_[0]);
    for (int i = 0; i < wrapper_.operands && behind(0); ++i) command_.erase(command_.begin());
    // env's - is its -i.
    if (wrapper_.assigns && behind(0) && command_[0].text == "-") command_.erase(command_.begin());
    while (wrapper_.assigns && behind(0) && command_[0].text.contains('=')) {
      export_variable(call_.state, command_[0]);
      command_.erase(command_.begin());
    }
  }

  void make_here() {
    for (const std::string& folder : call_.state.folders) {
      std::string_view above = folder;
      while (above != "/" && !call_.follower.files().exists(join(above, wrapper_.here)))
        above = parent_of(above);
      if (above == "/") call_.follower.note_write({join(folder, wrapper_.here), false, ""});
    }
  }

  void name_program() {
    if (command_[0].is_text()) command_[0].text = program_of_package(command_[0].text);
    // npm exec X -- its words
    if (command_.size() > 1 && command_[1].text == "--") command_.erase(command_.begin() + 1);
  }

  bool is_there(const Argument& path) const {
    return path.is_text() && std::ranges::all_of(call_.places(path), [&](const std::string& one) {
             return call_.follower.files().exists(one);
           });
  }

  // What is behind it is not looked at for options.
  static std::size_t begin_of_command(const Wrapper& wrapper, std::span<const Argument> words) {
    if (wrapper.behind.empty()) return words.size();
    const auto mark = std::ranges::find_if(
        words, [&](const Argument& word) { return word.is_text() && is_listed(wrapper.behind, word.text); });
    return static_cast<std::size_t>(mark - words.begin());
  }

  const Wrapper& wrapper_;
  const Call& call_;
  const std::size_t command_at_;
  const Split taken_;
  Arguments command_;
};

Lines run_wrapped(const Wrapper& wrapper, const Call& call, std::span<const Argument> words) {
  return Wrapped(wrapper, call, words).run();
}

struct Subcommand {
  std::string name;   // "npm install"
  Arguments words;    // All but the two.
  Arguments command;  // From the second on.
};

// The first word that is no option belongs to the name of programs like npm.
Subcommand subcommand(const std::string& name, std::span<const Argument> words, const Program* base) {
  const Syntax syntax = base != nullptr ? base->syntax : Syntax();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (is_listed(syntax.values, text)) {
      ++i;
    } else if (words[i].is_text() && (!text.starts_with('-') || text == "-m")) {
      const std::span<const Argument> from = words.subspan(i);
      Subcommand found = {name, {words.begin(), words.end()}, {from.begin(), from.end()}};
      found.name += ' ';
      found.name += command_of_package(name, text);
      found.words.erase(found.words.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
  }
  return {};
}

// What the tables have under a name; one of these at most.
struct Known {
  const Special* special = nullptr;
  bool only_reads = false;
  const Program* row = nullptr;

  bool is_anything() const { return special != nullptr || only_reads || row != nullptr; }
};

Known look_up(std::string_view name) {
  if (const Special* special = find_special(name)) return {.special = special};
  if (is_reader(name)) return {.only_reads = true};
  return {.row = find_program(name)};
}

// A program changes nothing about the shell that runs it. Only those that run others could.
template <class Run>
Lines apart(const Call& call, const Run& run) {
  State inside = call.state;
  return run(Call{call.follower, inside, call.words, call.in});
}

// yarn X, yarn run X: a script of the project or, if it has none of that name, a program of a package.
Lines run_bin(const Program& row, const Call& call, Arguments command) {
  call.follower.note_unseen(std::string(row.name) + ": a script");
  if (command[0].text == "run") command.erase(command.begin());
  if (command.empty() || !command[0].is_text()) return std::nullopt;
  const std::span<const Program> projects = project_programs();
  if (std::ranges::find(projects, command[0].text, &Program::name) == projects.end()) return std::nullopt;
  return apart(call, [&](const Call& own) { return own.follower.run(command, own.state, own.in); });
}

Lines run_named(const std::string& name, const Known& known, const Call& call) {
  if (known.special != nullptr) return apart(call, known.special->run);
  if (known.only_reads) return printed_by(name, call);
  if (const Wrapper* wrapper = find_wrapper(name)) {
    return apart(call, [&](const Call& own) { return run_wrapped(*wrapper, own, own.behind()); });
  }
  // Those that have commands of their own cannot be seen through without one.
  if (known.row == nullptr || known.row->unseen_if == "*" || known.row->has_commands) {
    const Subcommand sub = subcommand(name, call.behind(), known.row);
    if (const Wrapper* wrapper = find_wrapper(sub.name)) {
      return apart(call, [&](const Call& own) { return run_wrapped(*wrapper, own, sub.words); });
    }
    if (const Program* found = find_program(sub.name)) {
      // go mod tidy
      const Subcommand deeper = subcommand(sub.name, sub.words, known.row);
      const Program* const nearer = find_program(deeper.name);
      run_row(nearer == nullptr ? *found : *nearer, call, nearer == nullptr ? sub.words : deeper.words);
      return printed_by(name, call);
    }
    if (known.row != nullptr && known.row->runs_bins && !sub.command.empty())
      return run_bin(*known.row, call, sub.command);
  }
  if (known.row == nullptr) {
    call.follower.note_unseen(name + " is not known");
    return std::nullopt;
  }
  run_row(*known.row, call, call.behind());
  return printed_by(name, call);
}

}  // namespace

Lines run_program(const Call& call) {
  const std::string& text = call.words.front().text;
  const std::string name = known_name(text);
  if (name.empty()) {
    call.follower.note_unseen("a program or script of its own: " + text);
    return std::nullopt;
  }
  // Asked about itself, a program does nothing else.
  if (call.words.size() == 2 && is_listed("--version --help", call.words[1].text)) return std::nullopt;
  if (const Known known = look_up(name); known.is_anything()) return run_named(name, known, call);
  const std::string bare = usual_name(without_version(name));
  return run_named(bare, look_up(bare), call);
}

}  // namespace leasehold::shell
