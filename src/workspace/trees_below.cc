#include "workspace/trees_below.h"

#include <algorithm>
#include <filesystem>

#include "util/path_text.h"
#include "util/unique.h"
#include "workspace/git_files.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamesMax = 2000;  // Takes about a millisecond.

}  // namespace

std::vector<std::string> TreesBelow::find(const Workspace& workspace, const std::string& folder) {
  std::vector<std::string> roots;
  if (const auto& repository = workspace.git_common_dir) {
    const auto [known, is_new] = of_repository_.try_emplace(*repository);
    if (is_new) known->second = work_trees_of(*repository);
    std::ranges::copy_if(known->second, std::back_inserter(roots),
                         [&](const std::string& root) { return below(root, folder).has_value(); });
  }
  look(workspace, below(folder, workspace.root) ? folder : workspace.root, roots);
  std::erase(roots, workspace.root);
  return roots;
}

// From the top down: work trees are seldom deep.
void TreesBelow::look(const Workspace& workspace, const std::string& folder,
                      std::vector<std::string>& roots) {
  std::vector<std::string> folders = {folder};
  for (std::size_t i = 0; i < folders.size() && looked_at_ < kNamesMax; ++i) {
    const std::string here = folders[i];
    bool may_be_root = false;
    std::error_code error;
    for (fs::directory_iterator entry(here, error), end; !error && entry != end && looked_at_ < kNamesMax;
         entry.increment(error)) {
      ++looked_at_;
      const std::string name = entry->path().filename().string();
      may_be_root = may_be_root || name == ".git" || name.starts_with(".leasehold");
      std::error_code ignored;
      if (name != ".git" && !entry->is_symlink(ignored) && entry->is_directory(ignored))
        folders.push_back(entry->path().string());
    }
    // Whether it is one takes longer to tell.
    if (may_be_root && inner_root(workspace, join(here, "all")) == here) add_unique(roots, here);
  }
}

}  // namespace leasehold
