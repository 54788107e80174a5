#include "workspace/path_intake.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "model/key.h"
#include "util/path_text.h"
#include "util/resolve_path.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

Result<ResolvedPath> resolve(const Workspace& workspace, const std::string& path, std::string_view shown) {
  // The root has no links. Below it, which is the rule, only what is below has to be looked at.
  const auto inside = below(path, workspace.root);
  auto resolved = inside ? resolve_path(workspace.root, *inside) : resolve_path("/", path);
  if (!resolved) {
    return fail(Code::invalid_path,
                fmt::format("Cannot tell which file {} is: {}. Check the path and its links.",
                            in_quotes(shown), std::make_error_code(resolved.error()).message()));
  }
  return std::move(*resolved);
}

// Where a path leads. Without a key: out of the workspace, perhaps into another one inside it.
struct Target {
  std::optional<std::string> key;
  std::string resolved = {};
  std::optional<std::string> inner_root = {};
};

Result<Target> target_of(const Workspace& workspace, const std::string& path, const OsPath& given) {
  auto resolved = resolve(workspace, path, given.path);
  if (!resolved) return fail(std::move(resolved).error());
  const auto inside = below(resolved->path, workspace.root);
  if (!inside) return Target{.key = {}, .resolved = std::move(resolved->path)};
  const std::string about = given.subtree ? join(resolved->path, "all") : resolved->path;
  if (auto inner = inner_root(workspace, about))
    return Target{.key = {}, .resolved = std::move(resolved->path), .inner_root = std::move(inner)};

  if (!given.literal && !resolved->exists && inside->find_first_of("*?") != std::string_view::npos) {
    return fail(Code::invalid_path, fmt::format("{} is a glob, and leases are held on names. Name the folder "
                                                "or the files. (lease acquire takes a folder with all "
                                                "below it: --subtree DIR.)",
                                                in_quotes(given.path)));
  }
  // A link may have led to a name that nobody typed.
  if (auto checked = check_path_text(*inside); !checked) return fail(std::move(checked).error());
  auto key = path_key(*inside, given.path);
  if (!key) return fail(std::move(key).error());
  return Target{.key = std::move(*key)};
}

Result<Target> find_target(const Workspace& workspace, const OsPath& given) {
  if (auto checked = check_path_text(given.path); !checked) return fail(std::move(checked).error());

  if (given.path.starts_with("file:")) {
    // It may be typed by hand, so links in it are followed as well.
    const auto key = key_from_wire(given.path);
    if (!key) return fail(key.error());
    return target_of(workspace, join(workspace.root, key->substr(1)), given);
  }

  std::string path(given.path);
  std::ranges::replace(path, '\\', '/');
  if (path.front() != '/') {
    if (!given.cwd.starts_with('/')) {
      return fail(Code::invalid_path,
                  fmt::format("{} is relative to {}, which is not an absolute path. Give an absolute one.",
                              in_quotes(path), in_quotes(given.cwd)));
    }
    path = join(given.cwd, path);
    const bool is_free = !given.literal && !exists(path);
    if (is_free && is_resource(given.path)) return Target{.key = std::string(given.path)};
    if (is_free && is_unnamed_resource(given.path)) {
      return fail(
          Code::invalid_path,
          fmt::format("{} names no resource: behind the colon there has to be a name, without control "
                      "characters. If a file is meant, write ./ before it.",
                      in_quotes(given.path)));
    }
  }
  return target_of(workspace, path, given);
}

// Answers name files from the workspace's root on; whoever pastes that has to say so.
std::string as_printed(std::string_view path) {
  constexpr std::string_view kAllBelow = "/**";
  if (path.ends_with(kAllBelow)) path.remove_suffix(kAllBelow.size());
  const bool is_glob = path.find_first_of("*?") != std::string_view::npos;
  if (!path.starts_with('/') || path == "/" || is_glob) return {};
  return fmt::format(" If it counts from the workspace's root: {}", in_quotes(fmt::format("file:{}", path)));
}

}  // namespace

Result<std::string> key_from_os(const Workspace& workspace, const OsPath& os_path) {
  auto target = find_target(workspace, os_path);
  if (!target) return fail(std::move(target).error());
  if (target->key) return std::move(*target->key);
  if (target->inner_root) {
    return fail(
        Code::invalid_path,
        fmt::format("{} belongs to a workspace of its own, {}, inside {}. Run this there.",
                    in_quotes(os_path.path), in_quotes(*target->inner_root), in_quotes(workspace.root)));
  }
  return fail(
      Code::invalid_path,
      fmt::format("{} is outside the workspace: it is {}, and the workspace is {}. Name a path inside "
                  "it, or run this in the workspace of that file.{}",
                  in_quotes(os_path.path), in_quotes(target->resolved), in_quotes(workspace.root),
                  as_printed(os_path.path)));
}

Result<std::optional<std::string>> key_if_inside(const Workspace& workspace, const OsPath& os_path) {
  auto target = find_target(workspace, os_path);
  if (!target) return fail(std::move(target).error());
  return std::move(target->key);
}

}  // namespace leasehold
