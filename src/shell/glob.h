// Patterns of file names, matched against what is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shell/budget.h"
#include "shell/folder_view.h"
#include "shell/value.h"

namespace leasehold::shell {

// `text` with a backslash before whatever means something in a pattern.
std::string as_pattern(std::string_view text);
bool has_pattern(std::string_view text);

// The files below `folder` that match, named as the pattern names them; a pattern with ** is the folder it
// searches. A shell passes over hidden ones. Nothing: there is too much to look at.
std::optional<Arguments> matching(const std::string& pattern, const std::string& folder,
                                  const FolderView& files, Budget& budget, bool with_hidden = false);

}  // namespace leasehold::shell
