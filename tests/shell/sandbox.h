#pragma once

#include <map>
#include <string>

#include "support/temp_folder.h"

namespace leasehold::shell {

// A small project in a folder of its own: work/ is a git work tree, home/ the home folder.
class Sandbox {
 public:
  Sandbox();

  std::string root() const { return folder_.path(); }
  std::string work() const { return root() + "/work"; }
  std::string home() const { return root() + "/home"; }

  // Runs a command line with bash in work/, with no input and next to no environment. False: it took too
  // long.
  bool run(const std::string& command) const;

  // What there is besides git's own and programs' caches, by path: content, place on the disk, mode.
  std::map<std::string, std::string> look() const;

 private:
  TempFolder folder_;
};

}  // namespace leasehold::shell
