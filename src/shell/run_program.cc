#include <algorithm>

#include "shell/characters.h"
#include "shell/place.h"
#include "shell/programs.h"
#include "shell/specials.h"
#include "util/path_text.h"

namespace leasehold::shell {
namespace {

// They read, print or ask; whatever they write is no file of anybody's.
constexpr std::string_view kReaders[] = {
    "[",        "ack",     "ag",        "alias",     "apropos",    "arch",    "base32",  "base64",
    "basename", "bat",     "bc",        "bg",        "break",      "cal",     "cat",     "chgrp",
    "chown",    "cksum",   "clear",     "cloc",      "cmp",        "column",  "comm",    "continue",
    "cut",      "date",    "df",        "diff",      "diff3",      "dig",     "dirname", "dirs",
    "disown",   "du",      "echo",      "egrep",     "expand",     "expr",    "factor",  "false",
    "fd",       "fdfind",  "fg",        "fgrep",     "file",       "fmt",     "fold",    "free",
    "getconf",  "getent",  "getopts",   "gh",        "grep",       "groups",  "hash",    "head",
    "hexdump",  "host",    "hostname",  "htop",      "iconv",      "id",      "jobs",    "join",
    "jq",       "kill",    "killall",   "ldd",       "lease",      "less",    "let",     "locale",
    "logname",  "ls",      "lsof",      "man",       "md5sum",     "mkdir",   "mktemp",  "more",
    "netstat",  "nl",      "nm",        "nproc",     "numfmt",     "objdump", "od",      "paste",
    "pgrep",    "ping",    "pkill",     "pr",        "printenv",   "printf",  "ps",      "pstree",
    "pwd",      "readelf", "readlink",  "realpath",  "return",     "rev",     "rg",      "rmdir",
    "seq",      "sha1sum", "sha256sum", "sha512sum", "shellcheck", "shopt",   "shuf",    "size",
    "sleep",    "ss",      "stat",      "strings",   "stty",       "sum",     "sync",    "tac",
    "tail",     "test",    "times",     "tokei",     "top",        "tput",    "tr",      "tree",
    "tsort",    "tty",     "type",      "ulimit",    "umask",      "unalias", "uname",   "unexpand",
    "uptime",   "users",   "vmstat",    "wait",      "wc",         "whatis",  "whereis", "which",
    "who",      "whoami",  "xxd",       "yes",       "zcat",       "zgrep",   "zless",
};

static_assert(std::ranges::is_sorted(kReaders));

constexpr std::string_view kProgramFolders[] = {"/bin",  "/usr/bin",  "/usr/local/bin",
                                                "/sbin", "/usr/sbin", "/opt/homebrew/bin"};

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
  const auto projects = project_programs();
  const auto project = std::ranges::find(projects, name, &Program::name);
  return project == projects.end() ? nullptr : &*project;
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

Lines run_wrapped(const Wrapper& wrapper, const Call& call, std::span<const Argument> words) {
  const Split taken = split(words, {.values = wrapper.values, .operands_end = true});
  for (const Argument& file : taken.values(wrapper.outputs)) call.follower.note_write(call.state, file);
  for (const Argument& folder : taken.values(wrapper.folder)) {
    call.follower.run({{.text = "cd"}, folder}, call.state, std::nullopt);
  }
  auto command = taken.operands.begin();
  for (int skipped = 0; skipped < wrapper.operands && command != taken.operands.end(); ++skipped) ++command;
  while (wrapper.assigns && command != taken.operands.end() && command->text.contains('=')) ++command;
  if (command == taken.operands.end()) {
    if (taken.has("-c --command -s -i")) call.follower.note_unseen(std::string(wrapper.name) + ": a shell");
    return std::nullopt;
  }
  return call.follower.run(Arguments(command, taken.operands.end()), call.state, call.in);
}

struct Subcommand {
  std::string name;  // "npm install"
  Arguments words;   // All but the two.
};

// The first word that is no option belongs to the name of programs like npm.
Subcommand subcommand(const std::string& name, const Call& call, const Program* base) {
  const std::span<const Argument> words = call.behind();
  const Syntax syntax = base != nullptr ? base->syntax : Syntax();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (is_listed(syntax.values, text)) {
      ++i;
    } else if (words[i].is_text() && (!text.starts_with('-') || text == "-m")) {
      Subcommand found = {.name = name, .words = call.rest()};
      found.name += ' ';
      found.name += text;
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

Lines run_named(const std::string& name, const Known& known, const Call& call) {
  if (known.special != nullptr) return apart(call, known.special->run);
  if (known.only_reads) return printed_by(name, call);
  if (const Wrapper* wrapper = find_wrapper(name)) {
    return apart(call, [&](const Call& own) { return run_wrapped(*wrapper, own, own.behind()); });
  }
  // Those that have commands of their own cannot be seen through without one.
  if (known.row == nullptr || known.row->unseen_if == "*") {
    const Subcommand sub = subcommand(name, call, known.row);
    if (const Wrapper* wrapper = find_wrapper(sub.name)) {
      return apart(call, [&](const Call& own) { return run_wrapped(*wrapper, own, sub.words); });
    }
    if (const Program* found = find_program(sub.name)) {
      run_row(*found, call, sub.words);
      return printed_by(name, call);
    }
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
  const std::string bare = without_version(name);
  return run_named(bare, look_up(bare), call);
}

}  // namespace leasehold::shell
