// git, as far as the work tree goes: what it does to its own folder is nobody else's.
#include <algorithm>
#include <memory>
#include <set>

#include "shell/builtins.h"
#include "shell/find_expression.h"
#include "shell/git_head.h"
#include "shell/git_index.h"
#include "shell/glob.h"
#include "shell/options.h"
#include "shell/place.h"
#include "shell/programs.h"
#include "shell/specials.h"
#include "util/path_text.h"

namespace leasehold::shell {
namespace {

enum class Effect {
  reads,
  tree,   // Any file of the work tree.
  paths,  // Those it names, as far as git tracks them.
  table,  // As kTable says.
  special,
};

struct GitCommand {
  std::string_view name;
  Effect effect = Effect::reads;
  std::string_view values;     // Options whose value follows.
  std::string_view writes_if;  // Only with one of these options.
  std::string_view reads_if;
  std::string_view unseen_if;
  std::string_view looks;  // Words behind it with which it only reads.
};

// In the order of the alphabet.
constexpr GitCommand kCommands[] = {
    {.name = "add"},
    {.name = "am", .effect = Effect::tree, .reads_if = "--show-current-patch --quit"},
    {.name = "annotate"},
    {.name = "apply", .effect = Effect::special},
    {.name = "archive", .effect = Effect::table},
    {.name = "bisect", .effect = Effect::special, .unseen_if = "--", .looks = "log view visualize terms"},
    {.name = "blame"},
    {.name = "branch"},
    {.name = "bundle", .effect = Effect::table, .looks = "verify list-heads unbundle"},
    {.name = "cat-file"},
    {.name = "check-ignore"},
    {.name = "checkout", .effect = Effect::special},
    {.name = "checkout-index", .effect = Effect::special},
    {.name = "cherry"},
    {.name = "cherry-pick", .effect = Effect::tree, .reads_if = "--quit"},
    {.name = "clean", .effect = Effect::special, .values = "-e --exclude", .reads_if = "-n --dry-run"},
    {.name = "clone", .effect = Effect::special},
    {.name = "commit"},
    {.name = "config", .effect = Effect::special},
    {.name = "count-objects"},
    {.name = "describe"},
    {.name = "diff", .effect = Effect::table},
    {.name = "diff-tree"},
    {.name = "fetch"},
    {.name = "filter-branch",
     .effect = Effect::tree,
     .unseen_if = "--setup --subdirectory-filter --env-filter --tree-filter --index-filter --parent-filter "
                  "--msg-filter --commit-filter --tag-name-filter"},
    {.name = "for-each-ref"},
    {.name = "format-patch", .effect = Effect::table},
    {.name = "fsck"},
    {.name = "gc"},
    {.name = "grep"},
    {.name = "hash-object"},
    {.name = "help"},
    {.name = "init", .effect = Effect::special},
    {.name = "log", .effect = Effect::table},
    {.name = "ls-files"},
    {.name = "ls-remote"},
    {.name = "ls-tree"},
    {.name = "merge", .effect = Effect::tree, .reads_if = "--quit"},
    {.name = "merge-base"},
    {.name = "mv", .effect = Effect::table},
    {.name = "name-rev"},
    {.name = "notes"},
    {.name = "pull", .effect = Effect::tree},
    {.name = "push"},
    {.name = "read-tree", .effect = Effect::tree, .writes_if = "-u"},
    {.name = "rebase",
     .effect = Effect::tree,
     .reads_if = "--show-current-patch --quit",
     .unseen_if = "-x --exec"},
    {.name = "reflog"},
    {.name = "remote"},
    {.name = "reset", .effect = Effect::special},
    {.name = "restore", .effect = Effect::special},
    {.name = "rev-list"},
    {.name = "rev-parse"},
    {.name = "revert", .effect = Effect::tree, .reads_if = "--quit"},
    {.name = "rm", .effect = Effect::paths, .reads_if = "--cached -n --dry-run"},
    {.name = "shortlog"},
    {.name = "show", .effect = Effect::table},
    {.name = "show-ref"},
    {.name = "sparse-checkout", .effect = Effect::tree, .looks = "list"},
    {.name = "stash", .effect = Effect::special},
    {.name = "status"},
    {.name = "submodule", .effect = Effect::special, .looks = "status summary init sync"},
    {.name = "switch", .effect = Effect::special},
    {.name = "symbolic-ref"},
    {.name = "tag"},
    {.name = "update-index"},
    {.name = "update-ref"},
    {.name = "var"},
    {.name = "verify-commit"},
    {.name = "version"},
    {.name = "whatchanged"},
    {.name = "worktree", .effect = Effect::special},
    {.name = "write-tree"},
};

// After these another commit may be checked out; after those a branch may be another commit.
constexpr std::string_view kMoving =
    "am bisect cherry-pick commit filter-branch merge pull rebase revert symbolic-ref";
constexpr std::string_view kMovingBranches = "branch fetch push remote submodule tag update-ref";

// What these find in the index is there afterwards, too.
constexpr std::string_view kKeepsIndex =
    "add annotate archive blame branch bundle cat-file check-ignore clean config count-objects describe diff "
    "diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help log ls-files ls-remote ls-tree "
    "merge-base name-rev notes push reflog remote rev-list rev-parse shortlog show show-ref status tag";

constexpr std::string_view kConfigValues = "-f --file --blob --type --default --comment --value --url";

constexpr Program kTable[] = {
    {.name = "archive",
     .syntax = {.values = "-o --output --format --prefix"},
     .outputs = "-o --output",
     .dash = true},
    {.name = "bundle", .operands = Operands::second, .syntax = {.values = "--version"}},
    {.name = "config",
     .syntax = {.values = kConfigValues},
     .reads_if = "-l --list --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool",
     .outputs = "-f --file"},
    {.name = "diff", .syntax = {.values = "--output"}, .outputs = "--output", .dash = true},
    {.name = "format-patch",
     .operands = Operands::here,
     .syntax = {.values = "-o --output-directory --output"},
     .reads_if = "--stdout",
     .outputs = "--output",
     .into = "-o --output-directory",
     .names = "*.patch"},
    {.name = "log", .syntax = {.values = "--output"}, .outputs = "--output", .dash = true},
    {.name = "mv", .operands = Operands::move, .reads_if = "-n --dry-run", .dash = true},
    {.name = "show", .syntax = {.values = "--output"}, .outputs = "--output", .dash = true},
};

using Names = std::set<std::string, std::less<>>;

// Files of a work tree that are not in its index.
class Untracked {
 public:
  Untracked(const FolderView& files, std::string top) : files_(files), top_(std::move(top)) {}

  // Those at or below `place`. False: there is too much to look at, or it is not in the tree.
  bool add(const std::string& place, const Names& tracked) {
    const auto rest = below(place, top_);
    if (!rest) return false;
    const std::string path = rest->empty() ? "" : std::string(rest->substr(1));
    if (tracked.contains(path)) return true;
    const auto first = tracked.lower_bound(path + '/');
    const bool is_known = path.empty() || (first != tracked.end() && first->starts_with(path + '/'));
    if (!is_known) {
      const bool is_folder = files_.is_folder(place) && !files_.is_link(place);
      const auto names = is_folder ? files_.names(place) : std::nullopt;
      if (!names || !names->empty()) found.push_back({place, is_folder, ""});
      return true;
    }
    const auto names = files_.names(place);
    constexpr std::size_t kNamesMax = 5000;
    if (!names) return false;
    looked_at_ += names->size();
    if (looked_at_ > kNamesMax) return false;
    return std::ranges::all_of(
        *names, [&](const std::string& name) { return name == ".git" || add(join(place, name), tracked); });
  }

  std::size_t looked_at() const { return looked_at_; }

  std::vector<Write> found;

 private:
  const FolderView& files_;
  const std::string top_;
  std::size_t looked_at_ = 0;
};

// The values of a name in git's kind of settings.
std::vector<std::string> values_in(std::string_view text, std::string_view name) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto trimmed = [&](std::string_view part) {
    part.remove_prefix(std::min(part.find_first_not_of(kBlanks), part.size()));
    return part.substr(0, part.find_last_not_of(kBlanks) + 1);
  };
  std::vector<std::string> values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t sign = line.find('=');
    if (sign != std::string_view::npos && trimmed(line.substr(0, sign)) == name)
      values.emplace_back(trimmed(line.substr(sign + 1)));
  }
  return values;
}

class Git {
 public:
  Git(const Call& call, Arguments words) : call_(call), words_(std::move(words)) {}

  void run(const GitCommand& command) {
    act(command);
    if (!is_listed(kKeepsIndex, command.name)) note_own("index");
    if (command.name == "add") note_own("index.lock");
  }

 private:
  void act(const GitCommand& command) {
    const Split taken = split(words_, {.values = command.values});
    if (taken.has(command.unseen_if)) call_.follower.note_unseen("git: what it runs");
    if (taken.has(command.reads_if) || taken.has("-h --help")) return;
    if (is_listed(kMoving, command.name)) note_moved();
    if (is_listed(kMovingBranches, command.name)) note_moved(true);
    if (!taken.operands.empty() && is_listed(command.looks, taken.operands.front().text)) return;
    if (!command.writes_if.empty() && !taken.has(command.writes_if)) return;
    switch (command.effect) {
      case Effect::reads:
        return;
      case Effect::tree:
        return note_tree();
      case Effect::paths:
        if (taken.has("--pathspec-from-file")) return note_tracked_tree();
        return note_tracked_paths(taken.operands);
      case Effect::table:
        return run_table(command.name);
      case Effect::special:
        return run_special(command.name);
    }
  }

  void run_table(std::string_view name) {
    run_row(*std::ranges::find(kTable, name, &Program::name), call_, words_);
  }

  void run_special(std::string_view name) {
    if (name == "apply") return apply();
    if (name == "bisect") return bisect();
    if (name == "checkout") return checkout();
    if (name == "checkout-index") return checkout_index();
    if (name == "clean") return clean();
    if (name == "clone") return clone();
    if (name == "config") return config();
    if (name == "init") return init();
    if (name == "reset") return reset();
    if (name == "restore") return restore();
    if (name == "stash") return stash();
    if (name == "submodule") return submodule();
    if (name == "switch") return switch_branch();
    worktree();
  }

  // Or what is below one of its folders.
  void note_tree(const std::string& folder_in_it = "") {
    if (!call_.state.folder_why.empty()) return call_.follower.note_unseen(call_.state.folder_why);
    for (const std::string& folder : call_.state.folders) {
      const std::string top = work_tree(call_.follower.files(), folder);
      call_.follower.note_write({folder_in_it.empty() ? top : placed(top, folder_in_it), true, ""});
    }
  }

  GitHead head_of(const std::string& folder) const {
    return {call_.follower, work_tree(call_.follower.files(), folder)};
  }

  void note_moved(bool only_branches = false) {
    for (const std::string& folder : call_.state.folders) {
      GitHead head = head_of(folder);
      if (only_branches) {
        head.note_branches();
      } else {
        head.note_moved();
      }
    }
  }

  // The line changes a file of git's own.
  void note_own(std::string_view name) {
    for (const std::string& folder : call_.state.folders)
      call_.follower.note_own(join(head_of(folder).folder(), name));
  }

  // What git tracks in the tree that `folder` is in. Nothing: it cannot be told.
  std::optional<Names> index_of(const std::string& folder) const {
    const auto text = call_.follower.files().text(join(head_of(folder).folder(), "index"));
    // Reading takes time, as much as there is to read.
    if (text && !call_.follower.budget().spend(static_cast<long>(text->size() / 1024))) return std::nullopt;
    return text ? paths_in_index(*text) : std::nullopt;
  }

  // What git tracks at or below `path`, by whole paths. Nothing: it cannot be told, or the line adds to it.
  std::shared_ptr<const Names> tracked_below(const std::string& folder, const std::string& path) const {
    if (call_.follower.is_made(join(head_of(folder).folder(), "index.lock"))) return nullptr;
    const auto index = index_of(folder);
    if (!index) return nullptr;
    const std::string top = work_tree(call_.follower.files(), folder);
    const std::string place = simplified(call_.follower.files().resolved(path));
    auto tracked = std::make_shared<Names>();
    for (const std::string& name : *index) {
      std::string file = join(top, name);
      if (below(file, place)) tracked->insert(tracked->end(), std::move(file));
    }
    return tracked;
  }

  // Only what git tracks of it, as far as that can be told.
  void note_tracked(const std::string& folder, Write write) {
    write.among = tracked_below(folder, write.path);
    call_.follower.note_write(std::move(write));
  }

  void note_tracked_tree() {
    if (!call_.state.folder_why.empty()) return call_.follower.note_unseen(call_.state.folder_why);
    for (const std::string& folder : call_.state.folders)
      note_tracked(folder, {.path = work_tree(call_.follower.files(), folder), .subtree = true});
  }

  // Whether nothing changes when it is checked out.
  bool is_checked_out(const Argument& name) const {
    return name.is_text() && call_.state.folder_why.empty() &&
           std::ranges::all_of(call_.state.folders,
                               [&](const std::string& folder) { return head_of(folder).is_at(name.text); });
  }

  bool exists(const Argument& path) const {
    return std::ranges::any_of(call_.places(path),
                               [&](const std::string& one) { return call_.follower.files().exists(one); });
  }
  bool is_folder(const Argument& path) const {
    return std::ranges::any_of(call_.places(path),
                               [&](const std::string& one) { return call_.follower.files().is_folder(one); });
  }

  // The same of what git takes for paths. Names and patterns may be those of files that are not there.
  void note_tracked_paths(const Arguments& paths) {
    for (const Argument& path : paths) {
      const bool is_plain = path.is_text() && !path.text.starts_with(':') && !has_pattern(path.text);
      // A link is tracked itself, whatever it leads to.
      if (!is_plain || !is_folder(path) || is_link(path) || !call_.state.folder_why.empty()) {
        note_paths({path}, false);
        continue;
      }
      for (const std::string& folder : call_.state.folders)
        note_tracked(folder, {.path = placed(folder, path.text), .subtree = true});
    }
  }

  // What git takes for paths: patterns go into folders.
  void note_paths(const Arguments& paths, bool all_if_none) {
    if (paths.empty() && all_if_none) call_.follower.note_write(call_.state, {.text = "."}, true);
    for (const Argument& path : paths) {
      if (!path.is_text()) {
        call_.follower.note_write(call_.state, path, path.is_tree);
      } else if (path.text.starts_with(":/") && !has_pattern(path.text)) {
        note_tree(path.text.substr(2));
      } else if (path.text.starts_with(':')) {
        note_tree();
      } else if (has_pattern(path.text)) {
        const std::string folder = folder_in_path(path.text);
        call_.follower.note_write(
            call_.state,
            {.text = folder.empty() ? "." : folder, .is_tree = true, .name = name_in_path(path.text)}, true);
      } else {
        // One that is not there may be a folder that is brought back.
        call_.follower.note_write(call_.state, path, is_folder(path) || !exists(path));
      }
    }
  }

  bool is_link(const Argument& path) const {
    if (is_listed(". ..", last_name(path.text)))
      return false;  // Where the shell stands, not how it came there.
    return std::ranges::any_of(call_.places(path),
                               [&](const std::string& one) { return call_.follower.files().is_link(one); });
  }

  // What stands behind the --, if there is one.
  std::optional<Arguments> behind_dashes() const {
    const auto dashes = std::ranges::find(words_, "--", &Argument::text);
    if (dashes == words_.end()) return std::nullopt;
    return Arguments(dashes + 1, words_.end());
  }

  void checkout() {
    if (const auto paths = behind_dashes(); paths && !paths->empty()) {
      const std::size_t before = words_.size() - paths->size() - 1;
      // Out of a commit come files that git does not track here.
      const bool is_of_index = split(std::span(words_).first(before), {}).operands.empty();
      return is_of_index ? note_tracked_paths(*paths) : note_paths(*paths, false);
    }
    const Split taken = split(words_, {.values = "-b -B --orphan --conflict --pathspec-from-file"});
    const Arguments& operands = taken.operands;
    if (taken.has("--pathspec-from-file") || !taken.unclear.empty()) return note_tree();
    const bool is_new = taken.has("-b -B --orphan");
    if (operands.empty()) {
      if (is_new) note_moved();
      if (taken.has("-f --force")) note_tracked_tree();
      return;
    }
    const bool is_path = operands[0].text.starts_with(':') || exists(operands[0]);
    if (is_new || !is_path) {
      // A branch or a commit; more behind it are paths of it.
      if (operands.size() > 1) return note_paths({operands.begin() + 1, operands.end()}, false);
      const bool stays = is_checked_out(operands[0]) && !taken.has("-f --force --orphan");
      note_moved();
      if (!stays) note_tree();
      return;
    }
    note_tracked_paths(operands);
  }

  void checkout_index() {
    const Split taken = split(words_, {});
    if (taken.has("--temp")) return call_.follower.note_unseen("git checkout-index: names that it makes");
    const Arguments prefixes = taken.values("--prefix");
    if (prefixes.empty()) {
      if (!taken.has("-a --all --stdin")) return note_paths(taken.operands, false);
      return note_tracked_tree();
    }
    const Argument& prefix = prefixes.back();
    if (prefix.is_text() && prefix.text.ends_with('/')) return note_tree(prefix.text);
    call_.follower.note_unseen("git checkout-index: names that it makes");
  }

  void switch_branch() {
    const Split taken = split(words_, {.values = "-c -C --create --force-create --orphan --conflict"});
    const bool is_same = taken.operands.empty()
                             ? taken.has("-c -C --create --force-create -d --detach")
                             : taken.operands.size() == 1 && is_checked_out(taken.operands[0]);
    const bool stays = is_same && !taken.has("-f --force --discard-changes --orphan");
    note_moved();
    if (!stays) note_tree();
  }

  void restore() {
    const Split taken = split(words_, {.values = "-s --source --pathspec-from-file"});
    if (taken.has("-S --staged") && !taken.has("-W --worktree")) return;
    if (taken.has("--pathspec-from-file")) return note_tree();
    // Out of a commit come files that git does not track here.
    if (taken.has("-s --source -S --staged")) return note_paths(taken.operands, false);
    note_tracked_paths(taken.operands);
  }

  // To the commit that is checked out. Another one has files that git does not track here.
  void reset() {
    const Split taken = split(words_, {});
    const bool stays =
        taken.operands.empty() || (taken.operands.size() == 1 && is_checked_out(taken.operands[0]));
    note_moved();
    if (!taken.has("--hard --merge --keep")) return;
    return stays ? note_tracked_tree() : note_tree();
  }

  void stash() {
    const std::string action = words_.empty() || words_[0].text.starts_with('-') ? "push" : words_[0].text;
    if (is_listed("list show drop clear create store", action)) return;
    const Split taken = split(words_, {.values = "-m --message --pathspec-from-file"});
    Arguments paths = taken.operands;
    if (!paths.empty() && words_[0].text == "push") paths.erase(paths.begin());
    if (!is_listed("push save", action) || taken.has("--pathspec-from-file")) return note_tree();
    const bool takes_others = taken.has("-u --include-untracked -a --all");
    if (paths.empty() || action == "save") return takes_others ? note_tree() : note_tracked_tree();
    return takes_others ? note_paths(paths, false) : note_tracked_paths(paths);
  }

  // It checks nothing out before it knows a good and a bad one; unless it was at it, and begins anew.
  void bisect() {
    const bool starts =
        words_.size() == 1 && words_[0].text == "start" && call_.state.folder_why.empty() &&
        std::ranges::none_of(call_.state.folders, [&](const std::string& folder) {
          return call_.follower.files().exists(join(head_of(folder).folder(), "BISECT_START"));
        });
    if (!starts) note_tree();
  }

  // Only what is not in the index. What is there is looked at; a folder of which git has nothing is taken as
  // a whole.
  void clean() {
    const Split taken = split(words_, {.values = "-e --exclude"});
    Arguments paths = taken.operands;
    if (paths.empty()) paths.push_back({.text = "."});
    if (!call_.state.folder_why.empty()) return call_.follower.note_unseen(call_.state.folder_why);
    for (const std::string& folder : call_.state.folders) {
      const std::string top = work_tree(call_.follower.files(), folder);
      const auto tracked = index_of(folder);
      Untracked untracked(call_.follower.files(), top);
      const bool is_found = tracked && std::ranges::all_of(paths, [&](const Argument& path) {
                              return path.is_text() && !has_pattern(path.text) &&
                                     !path.text.starts_with(':') &&
                                     untracked.add(simplified(placed(folder, path.text)), *tracked);
                            });
      // Looking takes time, as much as there is to look at.
      if (!call_.follower.budget().spend(static_cast<long>(untracked.looked_at() / 4))) return;
      // It takes other repositories along only if it is forced twice.
      const auto is_force = [](const Option& one) { return is_listed("-f --force", one.name); };
      const bool is_whole = taken.has("-d") && std::ranges::count_if(taken.options, is_force) > 1;
      if (!is_found && is_whole && taken.operands.empty())
        return call_.follower.note_write(call_.state, {.text = "."}, true, true);
      if (!is_found) return note_paths(taken.operands, true);
      for (Write& write : untracked.found) {
        write.is_whole = is_whole && write.subtree;
        call_.follower.note_write(write);
      }
    }
  }

  // The folders that .gitmodules has, at the top.
  void submodule() {
    const Split taken = split(words_, {.values = "-b --branch --reference --depth -j --jobs --name"});
    if (taken.operands.empty()) return;
    const std::string& action = taken.operands[0].text;
    if (action == "foreach") return in_submodules();
    if (!is_listed("update deinit", action) || !call_.state.folder_why.empty()) return note_tree();
    for (const std::string& folder : call_.state.folders) {
      const std::string top = work_tree(call_.follower.files(), folder);
      const std::string list = join(top, ".gitmodules");
      if (!call_.follower.files().exists(list)) continue;
      const auto text = call_.follower.files().text(list);
      if (!text) return note_tree();
      for (const std::string& path : values_in(*text, "path")) {
        // It has quotes and comments of its own.
        if (path.find_first_of("\"\\#;") != std::string::npos) return note_tree();
        call_.follower.note_write({placed(top, path), true, ""});
      }
    }
  }

  // A line for a shell, or a command, in each of them.
  void in_submodules() {
    const auto verb = std::ranges::find(words_, "foreach", &Argument::text);
    const Split taken = split({verb + 1, words_.end()}, {.operands_end = true});
    State inside = call_.state;
    inside.folder_why = "folders of submodules";
    const Call own = {call_.follower, inside, taken.operands, call_.in};
    if (taken.operands.size() == 1) {
      run_line(own, taken.operands[0]);
    } else {
      call_.follower.run(taken.operands, inside, call_.in);
    }
  }

  // A name alone is asked for.
  void config() {
    const Split taken = split(words_, {.values = kConfigValues});
    const std::string action = taken.operands.empty() ? "" : taken.operands[0].text;
    const bool changes =
        taken.operands.size() > 1 ||
        taken.has("-e --edit --add --replace-all --unset --unset-all --rename-section --remove-section");
    if (action == "edit" || (changes && !is_listed("get list", action))) run_table("config");
  }

  void clone() {
    const Split taken =
        split(words_, {.values = "-b --branch --depth -o --origin -c --config --reference -j --jobs "
                                 "--filter --separate-git-dir --template -u --upload-pack"});
    if (taken.operands.empty()) return;
    Argument folder = taken.operands.back();
    if (taken.operands.size() == 1 && folder.is_text()) {
      std::string_view name = last_name(folder.text);
      if (name.ends_with(".git")) name.remove_suffix(4);
      if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos)
        name.remove_prefix(colon + 1);
      folder = {.text = std::string(name)};
    }
    call_.follower.note_write(call_.state, folder, true);
    call_.follower.note_work_tree(call_.state, folder);
  }

  // All that it makes is git's own.
  void init() {
    const Split taken = split(
        words_, {.values = "-b --initial-branch --template --separate-git-dir --object-format --ref-format"});
    call_.follower.note_work_tree(call_.state,
                                  taken.operands.empty() ? Argument{.text = "."} : taken.operands.front());
  }

  void worktree() {
    const Split taken = split(words_, {.values = "-b -B --reason"});
    if (taken.operands.size() < 2) return;
    const std::string& action = taken.operands[0].text;
    if (action == "add" || action == "remove" || action == "move") {
      for (const Argument& path : Arguments(taken.operands.begin() + 1, taken.operands.end())) {
        call_.follower.note_write(call_.state, path, true);
        if (action == "add") call_.follower.note_work_tree(call_.state, path);
        if (action != "move") break;
      }
    }
  }

  void apply() {
    const Split taken = split(words_, {.values = "-p --directory --exclude --include -C --whitespace"});
    const bool looks = taken.has("--check --stat --numstat --summary") && !taken.has("--apply");
    if (looks || taken.has("--cached")) return;
    const auto text = patch_text(call_, taken.operands.empty() ? nullptr : &taken.operands[0]);
    const bool is_plain = taken.operands.size() < 2 && !taken.has("-p --directory") && taken.unclear.empty();
    if (!text || !is_plain || !call_.state.folder_why.empty()) {
      return call_.follower.note_unseen("git apply: which files the patch is about");
    }
    if (taken.has("--reject")) call_.follower.note_unseen("git apply: what it leaves behind");
    for (const std::string& folder : call_.state.folders) {
      const std::string root = work_tree(call_.follower.files(), folder);
      for (const std::string& file : diff_files(*text, 1))
        call_.follower.note_write({placed(root, file), false, ""});
    }
  }

  const Call& call_;
  const Arguments words_;
};

}  // namespace

std::string work_tree(const FolderView& files, const std::string& folder) {
  const std::string place = files.resolved(folder);
  std::string_view above = place;
  while (above != "/" && !files.exists(join(above, ".git"))) above = parent_of(above);
  return above == "/" ? folder : std::string(above);
}

Lines run_git(const Call& call) {
  const Split taken = split(
      call.rest(), {.values = "-C -c --git-dir --work-tree --namespace --config-env", .operands_end = true});
  if (taken.has("--git-dir --work-tree")) call.follower.note_unseen("git: a folder elsewhere");
  for (const Argument& folder : taken.values("-C")) {
    change_directory(call, folder);
  }
  if (taken.operands.empty()) return std::nullopt;
  const std::string& name = taken.operands[0].text;
  const auto* command = std::ranges::find(kCommands, name, &GitCommand::name);
  if (command == std::end(kCommands) || !taken.operands[0].is_text()) {
    call.follower.note_unseen("git " + name + " is not known");
    return std::nullopt;
  }
  Git(call, {taken.operands.begin() + 1, taken.operands.end()}).run(*command);
  return printed_by("git " + name, {call.follower, call.state, taken.operands, call.in});
}

// What it does to the work tree it lets git do.
Lines run_gh(const Call& call) {
  const Split taken =
      split(call.behind(), {.values = "-R --repo -b --branch -O --output -D --dir -p --pattern -n --name"});
  const Arguments& words = taken.operands;
  if (words.size() < 2) return std::nullopt;
  const std::string name = words[0].text + ' ' + words[1].text;
  const bool merges = name == "pr merge" && taken.has("-d --delete-branch");
  if (is_listed("checkout co", words[1].text) || merges || (name == "repo sync" && words.size() == 2)) {
    call.follower.run({{.text = "git"}, {.text = "pull"}}, call.state, std::nullopt);
  } else if (name == "repo clone" || name == "gist clone") {
    Arguments command = {{.text = "git"}};
    command.insert(command.end(), words.begin() + 1, words.end());
    call.follower.run(std::move(command), call.state, std::nullopt);
  } else if (name == "repo fork" || name == "repo create") {
    if (taken.has("--clone -c")) call.follower.note_unseen("gh: what it clones");
  } else if (words[1].text == "download") {
    const Arguments files = taken.values("-O --output");
    for (const Argument& file : files) {
      if (file.text != "-") call.follower.note_write(call.state, file);
    }
    for (const Argument& folder : taken.values("-D --dir"))
      call.follower.note_write(call.state, folder, true);
    if (files.empty() && !taken.has("-D --dir"))
      call.follower.note_unseen("gh: files named after what is fetched");
  }
  return std::nullopt;
}

}  // namespace leasehold::shell
