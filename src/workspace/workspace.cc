#include "workspace/workspace.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "util/path_text.h"
#include "util/resolve_path.h"
#include "util/stable_hash.h"
#include "util/utf8.h"
#include "workspace/git_files.h"
#include "workspace/project_file.h"
#include "workspace/store_owner.h"

namespace leasehold {
namespace {

constexpr std::string_view kStoreFolder = ".leasehold";  // Without git.
constexpr std::string_view kStoreFolderInGit = "leasehold";
constexpr std::string_view kHere = "here";
constexpr std::string_view kDatabaseName = "leases.db";  // In either; as the SQLite store calls it.

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

// Whether somebody else may have put this here for us to find. Whoever owns the folder decides what is in it;
// that a folder is open to all is not enough, as whole trees mounted from elsewhere look like that.
bool is_planted(const std::string& folder, const struct stat& marker) {
  if (marker.st_uid == 0 || marker.st_uid == ::geteuid()) return false;
  const auto status = status_of(folder);
  return !status || ((status->st_mode & S_IWOTH) != 0 && marker.st_uid != status->st_uid);
}

bool has_config(const std::string& folder) {
  const auto status = status_of(join(folder, kConfigFileName));
  return status && S_ISREG(status->st_mode) && !is_planted(folder, *status);
}

// The folder alone is none: what agents saw of files lies there too, wherever the store is. One that is
// closed to us may have one.
bool has_store_in(const std::string& folder, std::string_view name) {
  const std::string store = join(folder, name);
  const auto status = status_of(store);
  if (!status || !S_ISDIR(status->st_mode) || is_planted(folder, *status)) return false;
  return ::access(join(store, kDatabaseName).c_str(), F_OK) == 0 || errno != ENOENT;
}

bool has_git(const std::string& folder) {
  const auto status = status_of(join(folder, ".git"));
  return status && !is_planted(folder, *status);
}

// The nearest folder, from `folder` upwards, that `wanted` says yes to.
template <class Predicate>
std::optional<std::string> nearest(std::string folder, Predicate wanted) {
  for (;;) {
    if (wanted(folder)) return folder;
    if (folder == "/") return std::nullopt;
    folder = parent_of(folder);
  }
}

// The store of a repository that others may look into must not be passed over for another one.
bool is_closed_to_us(const std::string& folder) {
  struct stat status{};
  return ::stat(join(folder, ".git/HEAD").c_str(), &status) != 0 && errno == EACCES;
}

// Makes `folder` the root if it is the top of a work tree.
bool take_git_root(Workspace& workspace, const std::string& folder) {
  if (!has_git(folder)) return false;
  auto dirs = git_dirs_at(folder);
  if (!dirs) {
    // A container, perhaps, that sees the work tree and not its repository. The tree is one all the same.
    workspace.notes.push_back(fmt::format("{}: the work tree is taken for a plain folder", dirs.error()));
  } else if (*dirs) {
    workspace.git_dir = std::move((*dirs)->git_dir);
    workspace.git_common_dir = std::move((*dirs)->common_dir);
  } else {
    return false;
  }
  workspace.root = folder;
  return true;
}

void note_unused_config(Workspace& workspace, const std::string& start) {
  const auto folder =
      nearest(start, [&](const std::string& f) { return f == workspace.root || has_config(f); });
  if (!folder || *folder == workspace.root) return;
  workspace.notes.push_back(
      fmt::format("{} is not used: the settings of a git work tree are at its top, {}, or above",
                  in_quotes(join(*folder, kConfigFileName)), in_quotes(workspace.root)));
}

bool is_marked(const std::string& folder) { return has_config(folder) || has_store_in(folder, kStoreFolder); }

Result<void> find_root(Workspace& workspace, const std::string& start) {
  const auto top = nearest(start, [&](const std::string& folder) {
    return take_git_root(workspace, folder) || (has_git(folder) && is_closed_to_us(folder));
  });
  if (top && workspace.root != *top) {
    return fail(
        Code::unavailable,
        fmt::format("Cannot look into the repository {}: permission denied. Its leases are kept there. "
                    "Check who owns it, and its mode.",
                    in_quotes(join(*top, ".git"))));
  }
  if (top) {
    note_unused_config(workspace, start);
    return {};
  }
  if (const auto marked = nearest(start, is_marked)) {
    workspace.root = *marked;
    return {};
  }
  const auto status = status_of(start);
  workspace.root = status && !S_ISDIR(status->st_mode) ? std::string(parent_of(start)) : start;
  return {};
}

Result<void> read_config(Workspace& workspace) {
  const auto folder = nearest(workspace.root, has_config);
  if (!folder) return {};
  workspace.config_file = join(*folder, kConfigFileName);

  auto settings = read_project_file(*workspace.config_file);
  if (!settings) return fail(std::move(settings).error());
  workspace.name = std::move(settings->workspace);
  workspace.scope = settings->scope;
  workspace.config = std::move(settings->table);
  return {};
}

std::string repository_id(const Workspace& workspace, std::string_view machine_id) {
  if (!workspace.name.empty()) return workspace.name;
  if (!workspace.origin.empty()) return stable_hash({"origin", workspace.origin});
  if (workspace.git_common_dir) return stable_hash({"repository", machine_id, *workspace.git_common_dir});
  return stable_hash({"folder", machine_id, workspace.root});
}

// Whichever way it is spelled, and whether or not it is there. One that is a link may be that of several.
bool is_own_store(const Workspace& workspace, const std::string& folder) {
  if (folder.empty()) return false;
  const std::string own = store_dir(workspace);
  struct stat itself{};
  if (::lstat(own.c_str(), &itself) == 0 && S_ISLNK(itself.st_mode)) return false;
  if (folder == own) return true;
  const auto there = status_of(folder);
  const auto status = status_of(own);
  if (there && status) return there->st_dev == status->st_dev && there->st_ino == status->st_ino;
  const auto one = resolve_path("/", folder);
  const auto other = resolve_path("/", own);
  return one && other && one->path == other->path;
}

// The work tree as its repository knows it.
std::string_view worktree_name(const Workspace& workspace) {
  if (!workspace.git_dir || !workspace.git_common_dir) return {};
  std::string_view name = *workspace.git_dir;
  if (name.starts_with(*workspace.git_common_dir)) name.remove_prefix(workspace.git_common_dir->size());
  return name;
}

}  // namespace

Result<Workspace> find_workspace(std::string_view start) {
  if (!start.starts_with('/')) {
    return fail(Code::invalid_path,
                fmt::format("Cannot look for a workspace from {}: it is not absolute. Give an absolute path.",
                            in_quotes(start)));
  }
  if (start.contains('\0')) {
    return fail(
        Code::invalid_path,
        fmt::format("Cannot look for a workspace from {}: no path has a NUL in it.", in_quotes(start)));
  }
  const auto folder = resolve_path("/", start);
  if (!folder) {
    return fail(Code::invalid_path,
                fmt::format("Cannot look for a workspace from {}: {}. Check that the folder can be read.",
                            in_quotes(start), std::make_error_code(folder.error()).message()));
  }

  Workspace workspace;
  if (auto found = find_root(workspace, folder->path); !found) return fail(std::move(found).error());
  if (auto read = read_config(workspace); !read) return fail(std::move(read).error());
  if (workspace.name.empty() && workspace.git_common_dir) {
    workspace.origin = origin_of({*workspace.git_dir, *workspace.git_common_dir}, workspace.root);
  }
  workspace.managed =
      workspace.config_file || has_store_in(workspace.root, kStoreFolder) ||
      (workspace.git_common_dir && has_store_in(*workspace.git_common_dir, kStoreFolderInGit));
  return workspace;
}

std::optional<std::string> inner_root(const Workspace& workspace, const std::string& path) {
  if (workspace.root == "/") return std::nullopt;  // One of the whole file system.
  Workspace unused;
  const bool is_git = workspace.git_dir || take_git_root(unused, workspace.root);
  const auto is_root = [&](const std::string& folder) {
    return take_git_root(unused, folder) || (!is_git && is_marked(folder));
  };
  const auto found = nearest(std::string(parent_of(path)), [&](const std::string& folder) {
    return folder.size() <= workspace.root.size() || is_root(folder);
  });
  return found && found->size() > workspace.root.size() ? found : std::nullopt;
}

std::string store_dir(const Workspace& workspace) {
  const auto& git = workspace.git_common_dir;
  // What was held before `git init` is still held.
  const bool was_before_git =
      git && !has_store_in(*git, kStoreFolderInGit) && has_store_in(workspace.root, kStoreFolder);
  return git && !was_before_git ? join(*git, kStoreFolderInGit) : join(workspace.root, kStoreFolder);
}

bool has_lost_repository(const Workspace& workspace) {
  if (workspace.git_dir) return false;
  const auto link = status_of(join(workspace.root, ".git"));
  return link && S_ISREG(link->st_mode) && !is_planted(workspace.root, *link) &&
         !has_store_in(workspace.root, kStoreFolder);
}

std::optional<Workspace> owner_of_store(const std::string& store_folder, const Workspace& workspace) {
  if (is_own_store(workspace, store_folder)) return workspace;
  if (!store_folder.starts_with('/')) return std::nullopt;
  auto around = find_workspace(parent_of(store_folder));
  if (!around || !is_own_store(*around, store_folder)) return std::nullopt;
  return *std::move(around);
}

std::string workspace_id(const Workspace& workspace, WorkspaceScope scope, std::string_view machine_id) {
  std::string id = repository_id(workspace, machine_id);
  if (scope == WorkspaceScope::repo) return id;
  return id + "@" + stable_hash({"worktree", machine_id, workspace.git_dir.value_or(workspace.root)});
}

std::string workspace_id_in(const std::string& store_folder, const Workspace& workspace, WorkspaceScope scope,
                            std::string_view machine_id) {
  if (!is_own_store(workspace, store_folder)) return workspace_id(workspace, scope, machine_id);
  std::string id(kHere);
  if (scope == WorkspaceScope::repo) return id;
  return id + "@" + stable_hash({"worktree", worktree_name(workspace)});
}

}  // namespace leasehold
