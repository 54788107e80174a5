#include "daemon/mcp_workspace.h"

#include <fmt/format.h>

#include <utility>

#include "model/key.h"
#include "util/utf8.h"
#include "workspace/disk_pairs.h"
#include "workspace/path_intake.h"

namespace leasehold::daemon {
namespace {

OsPath os_path(const Workspace& workspace, const std::string& path, const PathOptions& options) {
  return {.path = path, .cwd = workspace.root, .literal = options.literal};
}

// What stands below the root, with its slash. Nothing: it is elsewhere.
std::optional<std::string_view> below(std::string_view path, std::string_view root) {
  while (root.ends_with('/')) root.remove_suffix(1);
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return path;
}

}  // namespace

McpWorkspace::McpWorkspace(Options options)
    : options_(std::move(options)),
      is_on_disk_(options_.client_root.empty() && options_.id == options_.services.default_workspace()) {}

Result<std::string> McpWorkspace::text_key(const std::string& path) const {
  if (auto checked = check_path_text(path); !checked) return fail(checked.error());
  if (is_resource(path) || path.starts_with("file:")) return key_from_wire(path);
  if (path.find_first_of("*?") != std::string::npos) {
    return fail(Code::invalid_path, fmt::format("{} is a glob, and leases are held on names. Name the folder "
                                                "under subtrees, or the files.",
                                                in_quotes(path)));
  }
  if (path.front() != '/') return path_key(path, path);
  if (options_.client_root.empty()) {
    return fail(Code::invalid_path,
                fmt::format("{} is absolute, and this server does not know where your copy of the workspace "
                            "is. Give the path from its root, or say where that is: /mcp?root=/PATH",
                            in_quotes(path)));
  }
  const auto rest = below(path, options_.client_root);
  if (rest) return path_key(rest->empty() ? "/" : *rest, path);
  return fail(Code::invalid_path, fmt::format("{} is outside the workspace, which is at {}.", in_quotes(path),
                                              in_quotes(options_.client_root)));
}

Result<std::string> McpWorkspace::key(const std::string& path, const PathOptions& options) const {
  if (!is_on_disk_) return text_key(path);
  const Workspace& workspace = options_.services.workspace();
  return key_from_os(workspace, os_path(workspace, path, options));
}

Result<std::optional<std::string>> McpWorkspace::key_if_inside(const std::string& path,
                                                               const PathOptions& options) const {
  if (is_on_disk_) {
    const Workspace& workspace = options_.services.workspace();
    return leasehold::key_if_inside(workspace, os_path(workspace, path, options));
  }
  if (!options_.client_root.empty() && path.starts_with('/') && !below(path, options_.client_root))
    return std::nullopt;
  auto key = text_key(path);
  if (!key) return fail(key.error());
  return *std::move(key);
}

Result<std::vector<WantedPath>> McpWorkspace::wanted(const std::vector<AskedPath>& paths,
                                                     const PathOptions& options) const {
  std::vector<WantedPath> wanted;
  std::vector<std::string> files;
  for (const AskedPath& asked : paths) {
    auto key = this->key(asked.path, options);
    if (!key) return fail(key.error());
    if (!asked.subtree) files.push_back(*key);
    wanted.push_back({.path = *std::move(key), .subtree = asked.subtree});
  }
  Services& services = options_.services;
  if (options.pairs && is_on_disk_)
    add_pairs(wanted, pairs_on_disk(services.workspace(), services.pairs(), files));
  return wanted;
}

}  // namespace leasehold::daemon
