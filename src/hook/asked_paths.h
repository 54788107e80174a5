// What the gate is asked about, for files that somebody is about to write.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "leasehold/open.h"
#include "shell/find_writes.h"

namespace leasehold {

// Files are asked for as they are. A whole folder is not: to take it for a `git pull` would lock everybody
// out. Of a folder, and of more files than a command line takes at once, it is those that others have: if
// there are none, nothing is asked, and nothing taken. What the owner was `denied` of it (whole paths) is
// asked for as well: by now it may be free, but it has a moment for its retry, or was told to leave the file
// alone. What lies outside is left out, and with a command what has a name that is not UTF-8. Errors:
// invalid_path, and those of the store.
Result<std::vector<AskedPath>> asked_paths(OpenWorkspace& workspace, const Owner& owner,
                                           const std::set<std::string>& denied,
                                           const std::vector<shell::Write>& writes, bool by_command);

}  // namespace leasehold
