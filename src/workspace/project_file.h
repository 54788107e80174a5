// .leasehold.toml: what a project says of itself. This file reads what names the workspace; other settings
// are read from the table by those who own them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/result.h"
#include "util/toml.h"
#include "workspace/workspace.h"

namespace leasehold {

struct ProjectFile {
  TomlTable table;
  std::string workspace;                // Empty: not set.
  std::optional<WorkspaceScope> scope;  // Nothing: not set.
};

// Errors: config_error; the message names the file, and the line where there is one.
Result<ProjectFile> read_project_file(const std::string& file);

// The same, from its text. Total.
Result<ProjectFile> parse_project_file(std::string_view text, std::string_view file);

// An error about one line of a settings file, in the one form all of them have.
std::unexpected<Error> config_error(std::string_view file, unsigned line, std::string_view what);

}  // namespace leasehold
