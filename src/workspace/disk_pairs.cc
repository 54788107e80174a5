#include "workspace/disk_pairs.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "util/path_text.h"
#include "util/unique.h"
#include "workspace/path_intake.h"

namespace leasehold {

DiskFiles::DiskFiles(std::string root) : root_(root == "/" ? "" : std::move(root)) {}

bool DiskFiles::exists(const std::string& key) {
  if (!has_folder(parent_of(key))) return false;
  path_.assign(root_).append(key);
  struct stat status{};
  return ::stat(path_.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool DiskFiles::has_folder(std::string_view folder) {
  if (const auto known = folders_.find(folder); known != folders_.end()) return known->second;
  path_.assign(root_).append(folder);
  struct stat status{};
  const bool is_there = ::stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  folders_.emplace(folder, is_there);
  return is_there;
}

std::vector<PairedPath> pairs_on_disk(const Workspace& workspace, const PairRules& rules,
                                      std::span<const std::string> keys) {
  DiskFiles files(workspace.root);
  std::vector<PairedPath> resolved;
  for (PairedPath& found :
       rules.expand(keys, [&files](const std::string& key) { return files.exists(key); })) {
    const std::string shown = "file:" + found.path;
    auto key = key_from_os(workspace, {.path = shown, .cwd = workspace.root, .literal = true});
    if (!key || std::ranges::find(keys, *key) != keys.end()) continue;
    found.path = std::move(*key);

    const auto same = std::ranges::find(resolved, found.path, &PairedPath::path);
    if (same == resolved.end()) {
      resolved.push_back(std::move(found));
      continue;
    }
    add_missing(same->sources, found.sources);
  }
  return resolved;
}

void add_pairs(std::vector<WantedPath>& paths, std::span<const PairedPath> pairs) {
  for (const PairedPath& pair : pairs) {
    paths.push_back({.path = pair.path, .requested = false, .paired_with = pair.sources, .rule = pair.rule});
  }
}

}  // namespace leasehold
