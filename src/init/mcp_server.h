// Our entry among the servers of the Model Context Protocol that an agent starts, in the file where it reads
// them: put in and taken out as text, so that every other byte stays.
#pragma once

#include <string_view>

#include "init/hook_settings.h"

namespace leasehold {

struct ServersFile {
  std::string_view path;
  // The host reads none from projects: the path is one of the user's home, unless this variable has another
  // (it may have no name). The entry then says which project it is for.
  bool in_home = false;
  std::string_view variable = {};
};
ServersFile servers_file(HookHost host);

// With our entry, for the project at `root`; unchanged if there is one of that name, whoever wrote it.
// Errors: invalid_argument, beginning with the line and a colon: the file is not what the agent would take.
Result<FileText> with_server(const FileText& text, HookHost host, const std::string& root);

// Without what with_server() put there. Nothing: it held nothing else, and the file was ours. Where the host
// wrote the file anew since, an entry of that name that starts the same program goes, whoever wrote it.
// Errors: the same.
Result<FileText> without_server(const FileText& text, HookHost host, const std::string& root);

}  // namespace leasehold
