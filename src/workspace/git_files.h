// What we need to know of a git repository, read from its files: running git would cost more than all the
// rest of a `lease` call.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace leasehold {

struct GitDirs {
  std::string git_dir;     // Of this work tree: .git, or .git/worktrees/<name>, or .git/modules/<name>.
  std::string common_dir;  // What all work trees of the repository share; often the same.

  bool operator==(const GitDirs&) const = default;
};

// The git directories of the work tree whose top is `folder` (resolved); nothing if it is no such top. Like
// git, it goes past a .git folder that is no repository, but a .git file has to lead somewhere: if not, the
// error says why.
std::expected<std::optional<GitDirs>, std::string> git_dirs_at(const std::string& folder);

// The tops of the work trees of a repository, with the main one if that is around `common_dir`. What is not
// there any more is left out.
std::vector<std::string> work_trees_of(const std::string& common_dir);

// The normalised URL of `origin`; empty if the repository has none. `root` is what a relative path starts
// from.
std::string origin_of(const GitDirs& dirs, const std::string& root);

}  // namespace leasehold
