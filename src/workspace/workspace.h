// The tree being protected, and by what name the stores know it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"
#include "util/toml.h"

namespace leasehold {

// The name of the settings file, at the root of a workspace or above it.
inline constexpr std::string_view kConfigFileName = ".leasehold.toml";

// Which trees share their leases.
enum class WorkspaceScope {
  worktree,  // Each work tree is on its own.
  repo,      // All work trees and clones of a repository.
};

// A default-constructed workspace is the one of a library opened without any: the whole file system.
struct Workspace {
  std::string root = "/";                     // Absolute, links resolved. Keys are relative to it.
  std::optional<std::string> git_dir;         // Of this work tree.
  std::optional<std::string> git_common_dir;  // Shared by all work trees of the repository.
  std::string origin;  // Normalised origin URL; empty: none, or `name` makes it needless.

  std::optional<std::string> config_file;
  TomlTable config;                     // What is in it; whoever owns a setting reads it from here.
  std::string name;                     // `workspace` in it; empty: not set.
  std::optional<WorkspaceScope> scope;  // `scope` in it. Not set: the store decides.

  // There is a config file at or above it, or a store in it: the gates guard it. Else they let everything
  // through.
  bool managed = false;

  std::vector<std::string> notes;  // What was found and not used, and why; for people.
};

// The workspace that `start` belongs to: a folder or a file, absolute, which need not exist. Asked for a
// file, the answer does not depend on where one stands; a work tree may lie inside another.
//
// 1. The git work tree it is in; else
// 2. the nearest folder above, or itself, with a .leasehold.toml or a store; else
// 3. `start` itself (or the folder it is in), unmanaged.
//
// In a git work tree the root is its top even if a folder on the way has a .leasehold.toml: agents change
// folders as they work, and one file must not get two keys by it. Its settings are those of the nearest file
// at the top or above; one further down is not used, and a note says so.
//
// In a folder where everybody may write, such as /tmp, only what belongs to the user, to root or to the
// folder's owner counts: nobody may plant settings for others.
//
// Errors: invalid_path (`start` is not absolute or cannot be looked at), unavailable (its repository may not
// be looked into), config_error (the config file is wrong; the message names file and line).
Result<Workspace> find_workspace(std::string_view start);

// The root of the workspace that `path` (absolute, links resolved) belongs to, if that is another one inside
// this one: a submodule, a clone in a clone. Its root itself belongs to both: to this one as a name.
std::optional<std::string> inner_root(const Workspace& workspace, const std::string& path);

// Where the embedded store of a workspace is, whether or not there is one already.
std::string store_dir(const Workspace& workspace);

// The name of a workspace in the stores: `name`, else a hash of `origin`, else one of the machine and the git
// common dir (or the root, without git). With scope `worktree`, "@" and a hash of the machine and this work
// tree follow. Stored; never change what it gives.
//
// `machine_id` tells this machine from others (it is only hashed, never shown).
std::string workspace_id(const Workspace& workspace, WorkspaceScope scope, std::string_view machine_id);

// The same in an embedded store; without a folder, in another one. In the workspace's own, unless that is a
// link, it is "here", and the hash is of what the repository calls the work tree: nothing that is different
// in a container, or after the repository was moved, named or got another origin. Who holds a file goes on
// holding it.
std::string workspace_id_in(const std::string& store_folder, const Workspace& workspace, WorkspaceScope scope,
                            std::string_view machine_id);

}  // namespace leasehold
