// Pairs, looked up on this machine's disk.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "leasehold/calls.h"
#include "util/text_hash.h"
#include "workspace/pairs.h"
#include "workspace/workspace.h"

namespace leasehold {

// Which regular files a workspace has, by key. Remembers which folders there are: pairing asks for many names
// in few folders, most of which do not exist. For one request, not longer; one thread.
class DiskFiles {
 public:
  explicit DiskFiles(std::string root);

  bool exists(const std::string& key);

 private:
  bool has_folder(std::string_view folder);

  std::string root_;  // Empty for "/".
  std::string path_;  // Kept for its memory.
  TextMap<bool> folders_;
};

// PairRules::expand for the files of a workspace. Links are resolved: a test that is reached through one is
// given by the key that others know it by, and left out if it is outside the workspace.
std::vector<PairedPath> pairs_on_disk(const Workspace& workspace, const PairRules& rules,
                                      std::span<const std::string> keys);

// Adds to a request what pairing found for it; `paths` must be what it was found for.
void add_pairs(std::vector<WantedPath>& paths, std::span<const PairedPath> pairs);

}  // namespace leasehold
