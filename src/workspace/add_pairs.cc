#include "workspace/add_pairs.h"

namespace leasehold {

void add_pairs(std::vector<WantedPath>& paths, std::span<const PairedPath> pairs) {
  for (const PairedPath& pair : pairs) {
    paths.push_back({.path = pair.path, .requested = false, .paired_with = pair.sources, .rule = pair.rule});
  }
}

}  // namespace leasehold
