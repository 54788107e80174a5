// Our lines in git's hooks, beside whatever else is there.
//
// From 2.54 on, git runs hooks that its configuration names, and no file has to be touched. Before, a hook is
// one file: a shell script gets our block behind its first line; any other program, and one that is switched
// off, is moved aside and run by a script of ours. What was there is never lost, and comes back as it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "init/file_change.h"
#include "leasehold/result.h"

namespace leasehold {

struct GitVersion {
  int major = 0;
  int minor = 0;

  auto operator<=>(const GitVersion&) const = default;
};

// From what `git version` prints. Nothing: it is something else.
std::optional<GitVersion> parse_git_version(std::string_view text);

// Since when git runs hooks that its configuration names.
inline constexpr GitVersion kConfiguredHooks = {2, 54};

// A repository as git sees it.
struct GitPlace {
  std::string root;          // The top of the work tree.
  std::string hooks_folder;  // Absolute: where git looks for hooks, or where the hooks manager does.
  // Where git looks when nobody says otherwise, and where hooks of ours may be from then. Empty: it is the
  // same.
  std::string usual_folder;
  bool is_shared = false;  // Other repositories look there, too.
  GitVersion version;
  bool needs_mode = true;  // A hook that cannot be run is no hook. (husky runs what it finds.)
};

// What its user can do where a folder is shared: it is not ours to change.
inline constexpr std::string_view kSharedHooksAdvice =
    "Add this line to its pre-commit: lease git-hook pre-commit || exit $? and the same, with its own "
    "name, to its pre-merge-commit.";

// Asks git. Errors: unavailable (there is no git, or no repository).
Result<GitPlace> find_git_place(const std::string& root, const std::optional<std::string>& common_dir);

struct FileMove {
  std::string from;
  std::string to;
};

// A section of the repository's git configuration: set as a whole, or removed.
struct GitSection {
  std::string name;                                         // hook.lease-pre-commit
  std::vector<std::pair<std::string, std::string>> values;  // Empty: it is removed.
};

struct GitHookPlan {
  std::vector<FileMove> moves;
  std::vector<FileChange> files;  // Behind the moves at an installation, before them at the opposite.
  std::vector<GitSection> sections;
};

// Nothing to do: nothing in it. Errors: config_error (hooks that belong to other repositories, too; the
// message has the lines to add by hand), and those of reading files.
Result<GitHookPlan> plan_git_hooks(const GitPlace& place);
Result<GitHookPlan> plan_without_git_hooks(const GitPlace& place);

// Whether our hooks are all there.
bool has_git_hooks(const GitPlace& place);
// Whether some of ours are where git does not look any more: somebody set core.hooksPath since.
bool has_unused_git_hooks(const GitPlace& place);

}  // namespace leasehold
