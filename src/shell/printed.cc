// What programs print that names files: it may become the words of another.
#include <algorithm>

#include "shell/ansi_quote.h"
#include "shell/characters.h"
#include "shell/find_expression.h"
#include "shell/glob.h"
#include "shell/options.h"
#include "shell/place.h"
#include "shell/specials.h"
#include "util/path_text.h"

namespace leasehold::shell {
namespace {

constexpr std::size_t kTextMax = std::size_t{16} << 10;

Lines lines_in(std::string_view text) {
  if (text.size() > kTextMax) return std::nullopt;
  Arguments lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back({.text = std::string(text.substr(0, end))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool are_known(const Arguments& words) { return std::ranges::all_of(words, &Argument::is_known); }
bool are_text(const Arguments& words) { return std::ranges::all_of(words, &Argument::is_text); }

Arguments trees_of(const Arguments& words, std::string_view name = {}) {
  Arguments trees = words;
  if (trees.empty()) trees.push_back({.text = "."});
  for (Argument& tree : trees) {
    tree.is_tree = tree.is_known();
    tree.name = name;
  }
  return trees;
}

Lines echo(const Call& call) {
  Arguments words = call.rest();
  bool unescapes = false;
  while (!words.empty() && is_listed("-n -e -E -ne -en", words[0].text)) {
    unescapes = unescapes || words[0].text.contains('e');
    words.erase(words.begin());
  }
  if (!are_known(words)) return std::nullopt;
  if (!are_text(words)) return words;
  std::string text;
  for (const Argument& word : words) text += (text.empty() ? "" : " ") + word.text;
  return lines_in(unescapes ? ansi_unquoted(text) : text);
}

Lines print_formatted(const Call& call) {
  const Arguments words = call.rest();
  if (words.empty() || !are_known(words) || !words[0].is_text()) return std::nullopt;
  const std::string& format = words[0].text;
  if (is_listed("%s %s\\n %s\\0", format) || format == "%s ") return call.rest(2);
  if (format.contains('%') || format.starts_with('-')) return std::nullopt;
  return lines_in(ansi_unquoted(format));
}

Lines working_folder(const Call& call) {
  if (!call.state.folder_why.empty() || call.state.folders.size() != 1) return std::nullopt;
  return Arguments{{.text = call.state.folders[0]}};
}

Lines folder_of(const Call& call) {
  if (call.words.size() != 2 || !call.words[1].is_known()) return std::nullopt;
  Argument folder = call.words[1];
  if (folder.is_tree) return Arguments{trees_of({folder})};
  while (folder.text.size() > 1 && folder.text.ends_with('/')) folder.text.pop_back();
  const std::size_t slash = folder.text.rfind('/');
  folder.text = slash == std::string::npos ? "." : slash == 0 ? "/" : folder.text.substr(0, slash);
  return Arguments{folder};
}

Lines name_of(const Call& call) {
  if (call.words.size() < 2 || call.words.size() > 3 || !are_text(call.words)) return std::nullopt;
  if (call.words[1].text.starts_with('-')) return std::nullopt;
  std::string name(last_name(call.words[1].text));
  if (call.words.size() == 3 && name.ends_with(call.words[2].text) && name != call.words[2].text) {
    name.resize(name.size() - call.words[2].text.size());
  }
  return Arguments{{.text = name}};
}

Lines whole_path(const Call& call) {
  const Split taken = split(call.behind(), {});
  if (taken.operands.size() != 1 || !taken.operands[0].is_text()) return std::nullopt;
  const Lines folder = working_folder(call);
  if (!folder) return std::nullopt;
  return Arguments{{.text = placed(folder->front().text, taken.operands[0].text)}};
}

// Some name in the folder for such files, which is nobody's.
Lines temporary_name(const Call& call) {
  const Split taken = split(call.behind(), {.values = "-p --tmpdir --suffix"});
  if (!taken.operands.empty() && !taken.operands[0].text.starts_with("/tmp/")) {
    if (!taken.has("-t --tmpdir")) call.follower.note_unseen("mktemp: a name that it makes");
    return std::nullopt;
  }
  if (taken.has("-p")) return std::nullopt;
  const Argument made = {.text = "/tmp/tmp.XXXXXXXXXX"};
  if (taken.has("-d --directory")) call.follower.note_folder(call.state, made);
  return Arguments{made};
}

// Of one file.
Lines text_of(const Call& call, const Arguments& files) {
  const Lines folder = working_folder(call);
  if (files.size() != 1 || !files[0].is_text() || !folder) return std::nullopt;
  const auto text = call.follower.files().text(placed(folder->front().text, files[0].text));
  return text ? lines_in(*text) : std::nullopt;
}

Lines texts(const Call& call) {
  const Split taken = split(call.behind(), {});
  if (!taken.options.empty()) return std::nullopt;
  return taken.operands.empty() ? call.in : text_of(call, taken.operands);
}

// Lines of what is read, in whatever order.
Lines some_lines(const Call& call) {
  const Split taken = split(call.behind(), {.values = "-n -c -k -t --lines"});
  return taken.operands.empty() ? call.in : text_of(call, taken.operands);
}

Lines translated(const Call& call) {
  const bool is_separator = call.words.size() == 3 && is_listed("\\n \\0 \n", call.words[1].text);
  return is_separator ? call.in : std::nullopt;
}

Lines matching_files(const Call& call) {
  const Split taken =
      split(call.behind(), {.values = "-e --regexp -f --file -A -B -C -m --max-count --include --exclude "
                                      "--exclude-dir -g --glob -t --type"});
  const bool is_rg = call.words[0].text == "rg";
  Arguments files = taken.operands;
  const bool lists_all = taken.has("--files");
  if (!taken.has("-e --regexp -f --file") && !lists_all && !files.empty()) files.erase(files.begin());
  if (!lists_all && !taken.has("-l -L --files-with-matches --files-without-match")) {
    // A filter for the names that it reads.
    const bool is_filter = files.empty() && !taken.has("-o --only-matching -c --count -n -r -R");
    return is_filter ? call.in : std::nullopt;
  }
  if (!are_known(files)) return std::nullopt;
  if (!is_rg && !taken.has("-r -R --recursive --dereference-recursive")) return files;
  const Arguments names = taken.values("--include");
  const bool has_name = names.size() == 1 && names[0].is_text() && !names[0].text.contains('{');
  return trees_of(files, has_name ? names[0].text : "");
}

Lines list(const Call& call) {
  const Split taken = split(call.behind(), {});
  if (taken.has("-l -s -i -a -A -R -F -p") || !are_text(taken.operands)) return std::nullopt;
  const Lines here = working_folder(call);
  if (!here) return std::nullopt;
  const FolderView& files = call.follower.files();
  const auto place = [&](const Argument& file) { return placed(here->front().text, file.text); };
  const auto is_folder = [&](const Argument& file) { return files.is_folder(place(file)); };
  if (taken.has("-d") || (!taken.operands.empty() && std::ranges::none_of(taken.operands, is_folder)))
    return taken.operands;
  if (taken.operands.size() > 1) return std::nullopt;
  auto names = files.names(taken.operands.empty() ? here->front().text : place(taken.operands[0]));
  if (!names) return taken.operands.empty() ? trees_of({}) : Lines();
  Arguments shown;
  for (std::string& name : *names) {
    if (!name.starts_with('.')) shown.push_back({.text = std::move(name)});
  }
  return shown;
}

Lines anywhere_here(const Call&) { return trees_of({}); }

// git grep -l x -- folders
Lines matching_tracked(const Call& call) {
  const auto dashes = std::ranges::find(call.words, "--", &Argument::text);
  const Arguments paths = dashes == call.words.end() ? Arguments{} : Arguments(dashes + 1, call.words.end());
  const bool is_plain = std::ranges::none_of(paths, [](const Argument& one) {
    return !one.is_text() || one.text.starts_with(':') || one.text.contains('*');
  });
  return trees_of(is_plain ? paths : Arguments{});
}

Lines in_work_tree(const Call& call) {
  const Lines folder = working_folder(call);
  if (!folder) return std::nullopt;
  return trees_of({{.text = work_tree(call.follower.files(), folder->front().text)}});
}

// git ls-files 'src/*.ts', where a star takes slashes, too.
Lines tracked_files(const Call& call) {
  const Split taken = split(call.behind(), {.values = "-x -X --exclude --exclude-from"});
  if (!are_text(taken.operands)) return std::nullopt;
  if (std::ranges::any_of(taken.operands, [](const Argument& one) { return one.text.starts_with(':'); }))
    return in_work_tree(call);
  Arguments trees = trees_of(taken.operands);
  for (Argument& tree : trees) {
    if (!has_pattern(tree.text)) continue;
    tree.name = name_in_path(tree.text);
    tree.text = folder_in_path(tree.text);
    if (tree.text.empty()) tree.text = ".";
  }
  return trees;
}

Lines changed_files(const Call& call) {
  const Split taken = split(call.behind(), {});
  return taken.has("--name-only") ? in_work_tree(call) : std::nullopt;
}

Lines revision(const Call& call) {
  const bool is_top = call.words.size() == 2 && call.words[1].text == "--show-toplevel";
  Lines top = is_top ? in_work_tree(call) : std::nullopt;
  if (top) top->front().is_tree = false;
  return top;
}

Lines nothing(const Call&) { return Arguments{}; }

constexpr Special kPrinters[] = {
    {"[", nothing},
    {"basename", name_of},
    {"cat", texts},
    {"dirname", folder_of},
    {"echo", echo},
    {"egrep", matching_files},
    {"fd", anywhere_here},
    {"fgrep", matching_files},
    {"git diff", changed_files},
    {"git grep", matching_tracked},
    {"git ls-files", tracked_files},
    {"git rev-parse", revision},
    {"grep", matching_files},
    {"head", some_lines},
    {"ls", list},
    {"mktemp", temporary_name},
    {"printf", print_formatted},
    {"pwd", working_folder},
    {"readlink", whole_path},
    {"realpath", whole_path},
    {"rg", matching_files},
    {"shuf", some_lines},
    {"sleep", nothing},
    {"sort", some_lines},
    {"tac", some_lines},
    {"tail", some_lines},
    {"test", nothing},
    {"tr", translated},
    {"uniq", some_lines},
};

}  // namespace

Lines printed_by(std::string_view name, const Call& call) {
  // All but one do nothing else.
  if (!call.follower.is_read() && name != "mktemp") return std::nullopt;
  const auto* found =
      std::ranges::find_if(kPrinters, [&](const Special& one) { return same_word(one.name, name); });
  return found == std::end(kPrinters) ? std::nullopt : found->run(call);
}

}  // namespace leasehold::shell
