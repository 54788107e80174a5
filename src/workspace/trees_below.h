// Work trees inside of a folder: whoever removes the folder, or moves it, takes them along.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "workspace/workspace.h"

namespace leasehold {

class TreesBelow {
 public:
  // The roots of the work trees at or below `folder` (absolute, links resolved), which is in `workspace` or
  // around it: all that belong to its repository; of others those that a short look finds, which is one for
  // all folders together.
  std::vector<std::string> find(const Workspace& workspace, const std::string& folder);

 private:
  void look(const Workspace& workspace, const std::string& folder, std::vector<std::string>& roots);

  std::map<std::string, std::vector<std::string>> of_repository_;  // By its common dir.
  std::size_t looked_at_ = 0;
};

}  // namespace leasehold
