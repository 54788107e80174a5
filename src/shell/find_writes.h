// Which files a shell's command line writes, found by reading it, not by running it.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shell/folder_view.h"

namespace leasehold::shell {

// Content, mode, existence: whatever changes about a file counts. Folders themselves do not.
struct Write {
  std::string path;      // Absolute; links and ".." in it are not resolved.
  bool subtree = false;  // Any file below, now or later; or the file itself if it is one.
  std::string name;      // Of a subtree: only files whose name matches this pattern. Empty: all.
  bool is_deep = false;  // Also those in a folder whose name matches it.
  // A subtree goes with all in it, work trees as well; those who write files below pass over these, or mean
  // their own.
  bool is_whole = false;
  // Of a subtree: only these files of it, each by its whole path, and what stands in their places. Null: any.
  std::shared_ptr<const std::set<std::string, std::less<>>> among;

  bool operator==(const Write&) const = default;
};

struct Writes {
  std::vector<Write> files;  // In the order they were found; each once.
  // What could not be seen: a script, an interpreter, a variable. Empty: `files` is all.
  std::vector<std::string> unseen;
};

struct Surroundings {
  std::string folder;  // Where the command line runs; absolute.
  std::string home;    // Empty: not known.
  const FolderView& files;
};

// Follows the line as bash would: folders changed to, variables with known values, loops over known lists,
// functions, subshells, the commands of `bash -c`, xargs and find. Names a file rather once too often than
// not at all: both branches of an `if` count. Looks at the disk through `around.files`, runs nothing, never
// fails, and gives up (which is `unseen`) on what is too long or nested too deeply.
Writes find_writes(std::string_view command, const Surroundings& around);

}  // namespace leasehold::shell
