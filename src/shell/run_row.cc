// What a line of the table means.
#include <algorithm>

#include "shell/braces.h"
#include "shell/builtins.h"
#include "shell/glob.h"
#include "shell/place.h"
#include "shell/programs.h"
#include "util/path_text.h"
#include "util/unique.h"
#include "util/word_list.h"

namespace leasehold::shell {
namespace {

// src/*.{ts,tsx} as it stands there: every pattern that it is.
std::vector<std::string> without_braces(const std::string& text) {
  constexpr std::size_t kPatternsMax = 100;
  Part part;
  part.text = text;
  std::vector<std::string> all;
  const auto words = braced({{part}}, kPatternsMax);
  if (!words) return {text};
  for (const Word& word : *words) {
    all.emplace_back();
    for (const Part& one : word.parts) all.back() += one.text;
  }
  return all;
}

class Row {
 public:
  Row(const Program& row, const Call& call, std::span<const Argument> words)
      : row_(row), call_(call), split_(split(words, row.syntax)) {}

  void run() {
    if (!row_.unseen_if.empty() && (row_.unseen_if == "*" || split_.has(row_.unseen_if))) unseen(row_.why);
    if (!row_.unseen_unless.empty() && !split_.has(row_.unseen_unless)) unseen(row_.why);
    if (is_set(row_.reads_if) || (operands().size() == 1 && split_.has(row_.tests_if))) return;
    if (split_.has(row_.folders_if)) {
      for (const Argument& folder : operands()) call_.follower.note_folder(call_.state, folder);
      return;
    }
    for (const Argument& file : split_.values(row_.outputs)) note(file, false);
    for (const Argument& file : split_.values(row_.outputs_in)) note_in_output_folder(file);
    if (!row_.writes_if.empty() && !is_set(row_.writes_if)) {
      if (!split_.unclear.empty()) unseen(split_.unclear);
      return;
    }
    goes_deep_ = split_.has(row_.tree_if);
    const bool is_frozen = is_set(row_.frozen_if);
    if (!operands().empty() && !is_frozen) {
      for (const std::string_view name : words_of(row_.adds)) note_of_project(name);
    }
    for (const std::string_view name : words_of(row_.beside)) {
      if (!is_frozen || name.ends_with('/')) note_of_project(name);
    }
    for (const std::string_view name : words_of(row_.here)) note_here(name);
    if (operands().empty() && !split_.has(row_.around)) {
      for (const std::string_view name : words_of(row_.alone)) note_here(name);
    }
    if (!row_.keys.empty()) note_keys();
    if (row_.globs && !operands().empty()) {
      match_operands();
      if (operands().empty()) return;
    }
    note_operands();
  }

 private:
  Arguments& operands() { return split_.operands; }

  // --x=false is --no-x.
  bool is_set(std::string_view list) const {
    return std::ranges::any_of(split_.options, [&](const Option& one) {
      const std::string& value = one.value.text;
      if (value != "false") return is_listed(list, one.name) || is_listed(list, one.name + '=' + value);
      return is_listed(list, one.name + "=false") ||
             (one.name.starts_with("--") && is_listed(list, "--no-" + one.name.substr(2)));
    });
  }

  void unseen(std::string_view why) {
    call_.follower.note_unseen(std::string(row_.name) + ": " + std::string(why));
  }

  bool is_file(const Argument& path) const {
    return std::ranges::any_of(call_.places(path), [&](const std::string& one) {
      return call_.follower.files().exists(one) && !call_.follower.files().is_folder(one);
    });
  }

  bool is_folder(const Argument& path) const {
    if (path.is_tree) return false;
    return std::ranges::any_of(call_.places(path),
                               [&](const std::string& one) { return call_.follower.files().is_folder(one); });
  }

  bool is_link(const Argument& path) const {
    return std::ranges::any_of(call_.places(path),
                               [&](const std::string& one) { return call_.follower.files().is_link(one); });
  }

  // With `subtree` the names are those that the program writes, if it has such.
  void note(const Argument& path, bool subtree, bool is_whole = false) {
    if (!path.is_known()) return unseen(path.why);
    if (is_stream(path)) return;
    if (subtree && !row_.tree_unseen.empty()) unseen(row_.tree_unseen);
    if (subtree && !row_.names.empty() && !is_widened(path)) {
      Argument tree = path;
      tree.is_tree = true;
      for (const std::string_view name : words_of(row_.names)) {
        tree.name = name;
        call_.follower.note_write(call_.state, tree);
      }
      return;
    }
    call_.follower.note_write(call_.state, path, subtree, is_whole);
  }

  // Whether it may write files of other names below `path`, too.
  bool is_widened(const Argument& path) const {
    if (split_.has(row_.unnamed_if)) return true;
    if (row_.settings.empty()) return false;
    const std::vector<std::string> below = path.is_text() ? call_.places(path) : call_.state.folders;
    return std::ranges::any_of(below, [&](const std::string& place) {
      for (std::string_view above = place; above != "/"; above = parent_of(above)) {
        if (is_widened_in(above)) return true;
      }
      return false;
    });
  }

  bool is_widened_in(std::string_view folder) const {
    const FolderView& files = call_.follower.files();
    return std::ranges::any_of(words_of(row_.settings), [&](std::string_view name) {
      const std::string file = join(folder, name);
      if (!files.exists(file)) return false;
      const auto text = files.text(file);
      return !text || std::ranges::any_of(words_of(row_.widens),
                                          [&](std::string_view word) { return text->contains(word); });
    });
  }

  // Those of the project's programs, if a name that is found is one of a folder.
  bool enters_folders() const {
    const std::span<const Program> all = project_programs();
    return row_.tree_if.empty() &&
           std::ranges::any_of(all, [&](const Program& one) { return &one == &row_; });
  }

  // What it reads or prints.
  bool is_stream(const Argument& path) const { return !row_.dash && path.is_text() && path.text == "-"; }

  // scp and rsync know another machine's path by a colon before the first slash.
  static bool is_remote(const Argument& path) {
    return path.text.find(':') < std::min(path.text.find('/'), path.text.size());
  }

  void note_each(const Argument& path) {
    if (is_stream(path)) return;
    // What goes into folders only if told to does nothing to one that counts.
    const bool stays_out = !row_.tree_if.empty() && !goes_deep_;
    if (stays_out && (path.only_folders || (is_folder(path) && !is_link(path)))) return;
    const bool is_tree = (goes_deep_ && !is_file(path)) || (!stays_out && is_folder(path)) ||
                         (path.is_tree && enters_folders());
    if (is_tree || !keeps() || !path.is_known()) note(path, is_tree, row_.removes);
    note_suffixes_of_tree(path);
    if (!path.is_text() || path.text.empty()) return;
    for (const Argument& suffix : split_.values(row_.backup)) {
      if (!suffix.is_text() || suffix.text.contains('*') || suffix.text.contains('/')) {
        unseen("where it keeps what was there");
      } else if (!suffix.text.empty()) {
        note({.text = path.text + suffix.text}, false);
      }
    }
    for (const std::string_view item : words_of(row_.suffixes))
      note({.text = other_name(path.text, item)}, false);
  }

  bool keeps() const {
    return split_.has(row_.keeps_if) || (!row_.keeps_unless.empty() && !split_.has(row_.keeps_unless));
  }

  // The other name of what has this one, by an item of `suffixes`; empty: none.
  static std::string other_name(const std::string& name, std::string_view item) {
    const std::size_t sign = item.find('=');
    const std::string_view suffix = item.substr(0, sign);
    const bool is_added = sign == std::string_view::npos;
    if (!name.ends_with(suffix)) return is_added ? name + std::string(suffix) : std::string();
    return name.substr(0, name.size() - suffix.size()) + std::string(is_added ? "" : item.substr(sign + 1));
  }

  // find . -name '*.log' -exec gzip {} +
  void note_suffixes_of_tree(const Argument& path) {
    if (!path.is_tree) return;
    // How such names end has to be known.
    const std::size_t dot = path.name.rfind('.');
    const bool is_clear = dot != std::string::npos && !has_pattern(path.name.substr(dot));
    for (const std::string_view item : words_of(row_.suffixes)) {
      Argument other = path;
      other.name = is_clear ? other_name(path.name, item) : "";
      if (!other.name.empty() || !is_clear) note(other, false);
    }
  }

  void note_keys() {
    for (const Argument& word : operands()) {
      for (const std::string_view key : words_of(row_.keys)) {
        if (!word.text.starts_with(key)) continue;
        Argument file = word;
        file.text.erase(0, key.size());
        note(file, false);
      }
    }
  }

  void note_of_project(std::string_view name) {
    constexpr std::string_view kManifest = "package.json";
    if (name == kManifest && split_.has(row_.around)) return note_around(name);
    const bool is_lock = name != kManifest && !name.ends_with('/');
    if (!is_lock || !is_set(row_.unlocked_if)) note_beside(name);
  }

  // In packages of the project, as far as they are named by where they are.
  void note_around(std::string_view name) {
    for (const Argument& package : split_.values(row_.around)) {
      Argument file = package;
      file.text = join(package.text, name);
      if (package.is_text() && is_file(file)) {
        note(file, false);
      } else {
        unseen("folders of packages");
      }
    }
  }

  // The nearest that is there, at or above; else the one here. A slash behind means a folder with all in it.
  void note_beside(std::string_view name) {
    const bool is_tree = name.ends_with('/');
    if (is_tree) name.remove_suffix(1);
    if (!call_.state.folder_why.empty()) return unseen(call_.state.folder_why);
    for (const std::string& folder : call_.state.folders) {
      std::string_view above = folder;
      // What is around a tree that the line has just made is not its project; and what is not there yet may
      // be one.
      const bool is_there = call_.follower.files().is_folder(folder);
      while (is_there && above != "/" && !call_.follower.files().exists(join(above, name)) &&
             !call_.follower.is_made(join(above, ".git")))
        above = parent_of(above);
      const bool is_found = call_.follower.files().exists(join(above, name));
      call_.follower.note_write({join(is_found ? std::string(above) : folder, name), is_tree, ""});
    }
  }

  void note_here(std::string_view name) {
    const bool is_asked = name.ends_with('?');
    if (is_asked) name.remove_suffix(1);
    const Argument file = {.text = std::string(name)};
    if (!is_asked || !is_file(file)) note(file, false);
  }

  // Patterns that the shell left alone, as the program takes them: hidden files are files, too.
  void match_operands() {
    Arguments all;
    for (Argument& one : operands()) {
      const bool leaves_out = one.is_text() && one.text.starts_with('!');
      const bool is_pattern = one.is_text() && (has_pattern(one.text) || one.text.contains('{'));
      if ((!is_pattern && !leaves_out) || is_file(one) || is_folder(one)) {
        all.push_back(std::move(one));
      } else if (!leaves_out) {
        for (const std::string& pattern : without_braces(one.text)) add_matching(pattern, all);
      }
    }
    operands() = std::move(all);
  }

  void add_matching(const std::string& pattern, Arguments& all) {
    if (!call_.state.folder_why.empty()) return unseen(call_.state.folder_why);
    for (const std::string& folder : call_.state.folders) {
      auto found = matching(pattern, folder, call_.follower.files(), call_.follower.budget(), true);
      if (!found) return unseen("too many files");
      for (Argument& one : *found) one.only_files = one.is_tree;
      add_missing(all, *found);
    }
  }

  void note_operands() {
    Arguments& all = operands();
    if (row_.operands == Operands::none) return;
    if (row_.operands == Operands::here) return note_all_here();
    if (row_.operands == Operands::begins) return note_beginning();
    for (int i = 0; row_.operands == Operands::after_second && i < 2 && !all.empty(); ++i)
      all.erase(all.begin());
    const bool needs_script = row_.operands == Operands::after_first && !split_.has(row_.script);
    // An empty one is what sed wants behind -i on other systems.
    if (row_.operands == Operands::after_first && !all.empty() && all[0].is_text() && all[0].text.empty()) {
      all.erase(all.begin());
    }
    if (needs_script && !all.empty()) all.erase(all.begin());
    if (all.empty()) {
      for (const std::string_view name : words_of(row_.without)) note({.text = std::string(name)}, true);
      return;
    }
    switch (row_.operands) {
      case Operands::first:
        if (!last_name(all.front().text).contains('.') && !is_stream(all.front()))
          all.front().text += row_.ending;
        return note_each(all.front());
      case Operands::second:
        if (all.size() > 1) note_each(all[1]);
        return;
      case Operands::last:
        if (is_remote(all.back())) return;
        if (goes_deep_) return note_each(all.back());
        return note_copy();
      case Operands::copy:
      case Operands::move:
      case Operands::link:
        return note_copy();
      default:
        for (const Argument& path : all) {
          if (row_.makes || !path.is_unmatched) note_each(path);
        }
    }
  }

  void note_all_here() {
    const Arguments into = split_.values(row_.into);
    if (into.empty()) note_root();
    for (const Argument& folder : into) note(folder, true);
  }

  // Whatever is below this folder, or below the one of the project.
  void note_root() {
    if (row_.root.empty() || !call_.state.folder_why.empty()) return note({.text = "."}, true);
    for (const std::string& folder : call_.state.folders) {
      std::string root = folder;
      for (std::string_view above = folder;; above = parent_of(above)) {
        const bool is_one = call_.follower.files().exists(join(above, row_.root));
        if (is_one) root = above;
        if (above == "/" || (is_one && !split_.has(row_.wide_if))) break;
      }
      note({.text = root}, true);
    }
  }

  void note_beginning() {
    Argument begin = {.text = std::string(row_.without)};
    const Arguments& all = operands();
    if (const Arguments given = split_.values(row_.prefix); !given.empty()) {
      begin = given.back();
    } else if (row_.prefix.empty() && all.size() > 1) {
      begin = all[1];
    }
    if (!begin.is_text()) return note(begin, true);
    const std::size_t name = begin.text.rfind('/') + 1;
    Argument files = {.text = name == 0 ? "." : begin.text.substr(0, name), .is_tree = true};
    files.name = as_pattern(std::string_view(begin.text).substr(name)) + '*';
    note(files, false);
  }

  void note_in_output_folder(Argument file) {
    if (is_stream(file)) return;
    if (const Arguments folders = split_.values(row_.output_folder); !folders.empty()) {
      if (!folders.back().is_text()) return unseen("where its files are");
      file.text = folders.back().text + '/' + file.text;
    }
    note(file, false);
  }

  static Argument in_folder(Argument folder, std::string_view name) {
    folder.text += (folder.text.ends_with('/') ? "" : "/") + std::string(name);
    return folder;
  }

  // Surely, and no folder.
  bool is_there(const Argument& path) const {
    const std::vector<std::string> places = call_.places(path);
    return !places.empty() && call_.state.folder_why.empty() &&
           std::ranges::all_of(places, [&](const std::string& one) {
             return call_.follower.files().exists(one) && !call_.follower.files().is_folder(one);
           });
  }

  // Of several such options the last one counts; rare enough to ask for more than is written.
  bool spares_what_is_there() const {
    return split_.has(row_.new_if) && !split_.has("-f --force -i --interactive");
  }

  void note_copy() {
    Arguments sources = operands();
    const Arguments into = split_.values(row_.into);
    Argument target = {.text = "."};
    bool is_in = true;
    if (!into.empty()) {
      target = into.front();
    } else if (sources.size() > 1) {
      target = sources.back();
      sources.pop_back();
      is_in = sources.size() > 1 || target.text.ends_with('/') || is_folder(target);
      if (split_.has("-T --no-target-directory")) is_in = false;
    } else if (row_.operands != Operands::link) {
      return;
    }
    for (const Argument& source : sources) {
      if (source.is_unmatched && row_.operands != Operands::link) continue;
      const bool is_deep =
          (goes_deep_ && !is_file(source)) || (row_.operands == Operands::move && is_folder(source));
      std::string_view name = last_name(source.text);
      // The file may be another machine's.
      if (row_.operands == Operands::last) name.remove_prefix(name.rfind(':') + 1);
      if (spares_what_is_there() && is_there(is_in ? in_folder(target, name) : target)) continue;
      if (row_.operands == Operands::move) note(source, source.is_tree || is_folder(source), true);
      if (!target.is_known()) {
        unseen(target.why);
      } else if (!is_in) {
        note(target, is_deep || target.is_tree);
      } else if (!source.is_text() || name.empty() || name == "." || name == ".." ||
                 split_.has("--parents")) {
        Argument below = target;
        if (source.is_tree && target.is_text()) {
          below.is_tree = true;
          below.name = source.name;
        }
        note(below, !below.is_tree || is_deep || row_.operands == Operands::move);
      } else {
        note(in_folder(target, name), is_deep);
        if (row_.operands == Operands::copy && !is_folder(target))
          call_.follower.note_folder(call_.state, target);
      }
    }
  }

  const Program& row_;
  const Call& call_;
  Split split_;
  bool goes_deep_ = false;
};

}  // namespace

void run_row(const Program& row, const Call& call, std::span<const Argument> words) {
  Arguments folders;
  if (!row.folder.empty()) folders = split(words, row.syntax).values(row.folder);
  if (folders.empty()) return Row(row, call, words).run();
  State there = call.state;
  const Call own = {call.follower, there, call.words, call.in};
  for (Argument& folder : folders) {
    // A file that stands for its folder.
    if (folder.is_text() && folder.text.ends_with(".toml")) {
      const std::size_t slash = folder.text.rfind('/');
      folder.text = slash == std::string::npos ? "." : folder.text.substr(0, std::max(slash, std::size_t{1}));
    }
    change_directory(own, folder);
  }
  Row(row, own, words).run();
}

}  // namespace leasehold::shell
