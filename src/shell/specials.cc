#include "shell/specials.h"

#include <algorithm>

#include "shell/builtins.h"
#include "shell/characters.h"
#include "shell/options.h"
#include "shell/patch_paths.h"
#include "shell/place.h"
#include "util/path_text.h"

namespace leasehold::shell {
namespace {

// Its programs can write and run what they like; most only print.
Lines run_awk(const Call& call) {
  const Split taken =
      split(call.behind(), {.values = "-F -v -f --file --field-separator --assign -i --include"});
  if (taken.has("-f --file -i --include")) {
    call.follower.note_unseen("awk: a script");
  } else if (!taken.operands.empty()) {
    const Argument& program = taken.operands.front();
    const bool is_plain = program.is_text() && program.text.find_first_of(">|") == std::string::npos &&
                          !program.text.contains("system");
    if (!is_plain) call.follower.note_unseen("awk: what its program writes");
  }
  return std::nullopt;
}

Lines run_mkdir(const Call& call) {
  const Split taken = split(call.behind(), {.values = "-m --mode"});
  for (const Argument& folder : taken.operands) call.follower.note_folder(call.state, folder);
  if (taken.has("-p --parents")) call.follower.note_success();
  return Arguments{};
}

// The patch of coding agents, as an argument or read.
Lines run_apply_patch(const Call& call) {
  const Arguments arguments = call.rest();
  std::optional<std::string> text = arguments.empty() ? patch_text(call, nullptr) : std::nullopt;
  if (!arguments.empty() && arguments[0].is_text()) text = arguments[0].text;
  const auto paths = text ? patch_paths(*text) : std::nullopt;
  if (!paths) {
    call.follower.note_unseen("apply_patch: which files the patch is about");
    return std::nullopt;
  }
  for (const std::string& path : *paths) call.follower.note_write(call.state, {.text = path});
  return std::nullopt;
}

// su - somebody -c 'line'; runuser -u somebody -- command
Lines run_su(const Call& call) {
  const std::string& name = call.words.front().text;
  const Split taken =
      split(call.behind(), {.values = "-c --command --session-command -s --shell -g --group -G "
                                      "--supp-group -w --whitelist-environment -u --user"});
  const bool is_login = taken.has("-l --login") ||
                        std::ranges::find(taken.operands, "-", &Argument::text) != taken.operands.end();
  if (is_login) call.state.folder_why = "the home folder of somebody else";
  const Arguments lines = taken.values("-c --command --session-command");
  if (!lines.empty()) return run_line(call, lines.back());
  if (name == "runuser" && taken.has("-u --user") && !taken.operands.empty())
    return call.follower.run(taken.operands, call.state, call.in);
  // su somebody -- words for the shell
  Arguments words = taken.operands;
  std::erase_if(words, [](const Argument& word) { return word.text == "-"; });
  if (words.size() > 1) {
    words[0] = {.text = "sh"};
    return call.follower.run(std::move(words), call.state, call.in);
  }
  call.follower.note_unseen(name + ": a shell");
  return std::nullopt;
}

// setarch x86_64 -R command: what stands first is no option only if it is the machine's kind.
Lines run_setarch(const Call& call) {
  Arguments words = call.rest();
  if (!words.empty() && !words[0].text.starts_with('-')) words.erase(words.begin());
  const Split taken = split(words, {.operands_end = true});
  if (!taken.operands.empty()) return call.follower.run(taken.operands, call.state, call.in);
  call.follower.note_unseen("setarch: a shell");
  return std::nullopt;
}

// It writes down what a shell, or one line for it, prints.
Lines run_script(const Call& call) {
  const Split taken =
      split(call.behind(), {.values = "-c --command -O --log-out -I --log-in -B --log-io -T --log-timing -E "
                                      "--echo -o --output-limit -m --logging-format",
                            .attached = "-t"});
  const Arguments logs = taken.values("-O --log-out -I --log-in -B --log-io -T --log-timing");
  for (const Argument& file : logs) call.follower.note_write(call.state, file);
  for (const Argument& file : taken.operands) call.follower.note_write(call.state, file);
  if (logs.empty() && taken.operands.empty()) call.follower.note_write(call.state, {.text = "typescript"});
  const Arguments lines = taken.values("-c --command");
  if (!lines.empty()) return run_line(call, lines.back());
  call.follower.note_unseen("script: a shell");
  return std::nullopt;
}

constexpr Special kSpecials[] = {
    {"apply_patch", run_apply_patch},
    {"applypatch", run_apply_patch},
    {"awk", run_awk},
    {"bash", run_shell},
    {"dash", run_shell},
    {"fd", run_fd},
    {"find", run_find},
    {"gh", run_gh},
    {"git", run_git},
    {"ksh", run_shell},
    {"mkdir", run_mkdir},
    {"patch", run_patch},
    {"runuser", run_su},
    {"script", run_script},
    {"setarch", run_setarch},
    {"sh", run_shell},
    {"su", run_su},
    {"tar", run_tar},
    {"xargs", run_xargs},
    {"zsh", run_shell},
};

// The lines of what is read, put together.
std::optional<std::string> whole_text(const Lines& lines) {
  if (!lines) return std::nullopt;
  std::string text;
  for (const Argument& line : *lines) {
    if (!line.is_text()) return std::nullopt;
    text += line.text + '\n';
  }
  return text;
}

}  // namespace

const Special* find_special(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kSpecials, [&](const Special& one) { return same_word(one.name, name); });
  return found == std::end(kSpecials) ? nullptr : found;
}

Lines run_line(const Call& call, const Argument& line) {
  return call.follower.run({{.text = "sh"}, {.text = "-c"}, line}, call.state, call.in);
}

// bash -c 'script' name arguments..., or a script that is read.
Lines run_shell(const Call& call) {
  bool has_command = false;
  bool reads = false;  // -s: all words are arguments.
  std::size_t at = 1;
  for (; at < call.words.size(); ++at) {
    const Argument& word = call.words[at];
    if (word.text.size() < 2 || (word.text[0] != '-' && word.text[0] != '+') || !word.is_known()) break;
    if (word.text == "--") {
      ++at;
      break;
    }
    if (is_listed("--rcfile --init-file", word.text)) ++at;
    if (word.text.starts_with("--")) continue;
    has_command = has_command || word.text.contains('c');
    reads = reads || word.text.contains('s');
    if (word.text.find_first_of("oO") != std::string::npos) ++at;
  }
  State inside;
  inside.folders = call.state.folders;
  inside.folder_why = call.state.folder_why;
  inside.exported = call.state.exported;
  for (const std::string& variable : *call.state.exported) {
    const auto known = call.state.variables->find(variable);
    if (known != call.state.variables->end()) inside.variables.changed()[variable] = known->second;
  }
  const std::string name = call.words.front().text;
  if (at >= call.words.size() || (!has_command && (reads || call.words[at].text == "-"))) {
    if (reads) inside.positional = call.rest(at);
    const auto script = whole_text(call.in);
    if (script) return call.follower.follow(*script, inside, std::nullopt);
    call.follower.note_unseen(name + ": a script that it reads");
    return std::nullopt;
  }
  const Argument& first = call.words[at];
  // find . -exec sh -c 'rm {}' \;
  const bool has_found = first.why == kPutTogether && call.state.found;
  if (!has_command || (!first.is_text() && !has_found)) {
    call.follower.note_unseen(name + ": a script" + (first.is_known() ? " (" + first.text + ")" : ""));
    return std::nullopt;
  }
  if (has_found) inside.found = call.state.found;
  inside.positional = call.rest(at + 2);
  if (at + 1 < call.words.size()) inside.variables.changed()["0"] = {call.words[at + 1]};
  return call.follower.follow(first.text, inside, call.in);
}

Lines run_tar(const Call& call) {
  Arguments words = call.rest();
  if (words.empty()) return std::nullopt;
  if (!words[0].text.starts_with('-') && words[0].is_text()) words[0].text.insert(0, "-");
  const Split taken =
      split(words,
            {.values = "-f --file -C --directory -T --files-from -X --exclude-from --exclude -I "
                       "--use-compress-program --transform --xform -H --format -b -g -V --strip-components"});
  Follower& follower = call.follower;
  if (taken.has("-t --list -O --to-stdout -d --diff --compare")) return std::nullopt;
  if (!taken.unclear.empty()) follower.note_unseen("tar: " + taken.unclear);
  if (!taken.has("-x --extract --get")) {
    for (const Argument& file : taken.values("-f --file")) {
      if (file.text != "-") follower.note_write(call.state, file);
    }
    if (taken.has("--remove-files")) {
      if (taken.has("-T --files-from -C --directory")) follower.note_unseen("tar: what it takes away");
      for (const Argument& file : taken.operands) {
        if (!file.is_unmatched) follower.note_write(call.state, file, true, true);
      }
    }
    return std::nullopt;
  }
  Arguments folders = taken.values("-C --directory");
  if (folders.empty()) folders.push_back({.text = "."});
  const bool is_renamed = taken.has("--strip-components --transform --xform --wildcards -P --absolute-names");
  const Argument& folder = folders.back();
  if (taken.has("-P --absolute-names")) follower.note_unseen("tar: files outside");
  if (taken.operands.empty() || is_renamed || !folder.is_text()) {
    follower.note_write(call.state, folder, true);
    return std::nullopt;
  }
  for (const Argument& member : taken.operands) {
    Argument file = member;
    if (file.is_known()) file.text = join(folder.text, file.text);
    follower.note_write(call.state, file, true);
  }
  return std::nullopt;
}

std::optional<std::string> patch_text(const Call& call, const Argument* path) {
  if (path == nullptr || path->text == "-") return whole_text(call.in);
  if (!path->is_text() || !call.state.folder_why.empty() || call.state.folders.size() != 1)
    return std::nullopt;
  return call.follower.files().text(placed(call.state.folders[0], path->text));
}

Lines run_patch(const Call& call) {
  const Split taken = split(
      call.rest(),
      {.values = "-p --strip -i --input -o --output -d --directory -B -D -F -g -r --reject-file -V -Y -z"});
  Follower& follower = call.follower;
  if (taken.has("--dry-run -C")) return std::nullopt;
  const Arguments inputs = taken.values("-i --input");
  const Argument* input = inputs.empty() ? nullptr : &inputs.back();
  if (input == nullptr && taken.operands.size() > 1) input = &taken.operands[1];
  const auto text = patch_text(call, input);
  for (const Argument& folder : taken.values("-d --directory")) {
    change_directory(call, folder);
  }
  if (taken.has("-b --backup -B -z -Y")) follower.note_unseen("patch: where it keeps what was there");
  const Arguments outputs = taken.values("-o --output");
  for (const Argument& file : outputs) follower.note_write(call.state, file);
  if (!outputs.empty()) return std::nullopt;
  if (!taken.operands.empty()) {
    follower.note_write(call.state, taken.operands[0]);
    return std::nullopt;
  }
  if (!text) {
    follower.note_unseen("patch: which files the patch is about");
    return std::nullopt;
  }
  const Arguments strips = taken.values("-p --strip");
  const bool is_number = !strips.empty() && strips.back().is_text() && strips.back().text.size() == 1 &&
                         strips.back().text[0] >= '0' && strips.back().text[0] <= '9';
  for (const std::string& file : diff_files(*text, is_number ? strips.back().text[0] - '0' : -1)) {
    follower.note_write(call.state, {.text = file});
    // Without -p it is the whole name if its folders are there, else the last part of it.
    if (strips.empty()) follower.note_write(call.state, {.text = std::string(last_name(file))});
  }
  return std::nullopt;
}

std::vector<std::string> diff_files(std::string_view diff, int strip) {
  std::vector<std::string> files;
  const auto add = [&](std::string_view name, int folders) {
    name = name.substr(0, name.find('\t'));
    while (!name.empty() && (name.back() == '\r' || name.back() == ' ')) name.remove_suffix(1);
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    if (name == "/dev/null") return;
    for (int i = 0; i < folders; ++i) {
      const std::size_t slash = name.find('/');
      if (slash == std::string_view::npos) break;
      name.remove_prefix(slash + 1);
    }
    if (!name.empty() && std::ranges::find(files, name) == files.end()) files.emplace_back(name);
  };
  while (!diff.empty()) {
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    const std::string_view line = diff.substr(0, end);
    diff.remove_prefix(std::min(end + 1, diff.size()));
    for (const std::string_view header : {"--- ", "+++ ", "*** "}) {
      if (line.starts_with(header)) add(line.substr(header.size()), std::max(strip, 0));
    }
    for (const std::string_view header : {"rename from ", "rename to ", "copy to "}) {
      if (line.starts_with(header)) add(line.substr(header.size()), std::max(strip - 1, 0));
    }
    // Of empty files and modes nothing but this line tells: diff --git a/x b/x
    constexpr std::string_view kGit = "diff --git ";
    if (line.starts_with(kGit)) {
      const std::string_view names = line.substr(kGit.size());
      const std::string_view second = names.substr(names.size() / 2);
      if (second.starts_with(' ')) add(second.substr(1), std::max(strip, 0));
    }
  }
  return files;
}

}  // namespace leasehold::shell
