// Our entry among the servers of the Model Context Protocol that an agent starts, in the project's file for
// them: put in and taken out as text, so that every other byte stays.
#pragma once

#include <string_view>

#include "init/hook_settings.h"

namespace leasehold {

// Where in a project the host reads its servers from. Empty: nowhere, or together with its hooks.
std::string_view servers_file(HookHost host);

// With our entry; unchanged if there is one of that name, whoever wrote it.
// Errors: invalid_argument, beginning with the line and a colon: the file is not what the agent would take.
Result<FileText> with_server(const FileText& text, HookHost host);

// Without what with_server() put there. Nothing: it held nothing else, and the file was ours. Errors: the
// same.
Result<FileText> without_server(const FileText& text, HookHost host);

}  // namespace leasehold
