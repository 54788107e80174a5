// Where paths come in from the command line, hooks and the library: whatever the spelling, one file has one
// key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/result.h"
#include "workspace/workspace.h"

namespace leasehold {

struct OsPath {
  std::string_view path;  // As the user, the agent or the program wrote it.
  std::string_view cwd;   // What it is relative to; absolute.
  // True: the path names one file even if it contains "*" or "?", or reads like port:3000. For callers that
  // can mean nothing else, such as a hook that was told which file is about to be written.
  bool literal = false;
  bool subtree = false;  // It is about all that is below.
};

// The key (key.h) of a path of this machine. `path` may be
//
//   src/a.ts, ./x/../src/a.ts, src\a.ts    an OS path, relative to `cwd`
//   /home/me/project/src/a.ts              an OS path, absolute
//   file:/src/a.ts                         a key: from the workspace root
//   port:3000                              another resource, unless a file is called that or it is `literal`;
//                                          ./port:3000 is always a file
//
// Symbolic links are followed as the kernel would, as far as the path exists; what does not exist yet is
// text. A dangling link leads to the file that writing through it would create. A backslash always separates:
// a file with one in its name shares its key with the file of the other spelling. Upper and lower case
// differ, and two hard links to one file are two files.
//
// Errors: invalid_path: empty, too long, with a NUL, not UTF-8, a loop of links, unreadable, outside the
// workspace, a glob (a name with "*" or "?" that does not exist and is not `literal`), or a resource without
// a name it can have (port:), unless a file is called that or it is `literal`.
Result<std::string> key_from_os(const Workspace& workspace, const OsPath& os_path);

// The same for those who let pass what is outside the workspace: nothing, where key_from_os has an error for
// it.
Result<std::optional<std::string>> key_if_inside(const Workspace& workspace, const OsPath& os_path);

}  // namespace leasehold
