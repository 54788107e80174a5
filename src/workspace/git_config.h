#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold {

struct GitSetting {
  std::string_view section;     // Lower case.
  std::string_view subsection;  // As written; may be empty.
  std::string_view key;         // Lower case.
};

// The first value that a git configuration file gives to a setting; nothing if it has none. It reads this one
// file and follows no include. Total: from where git would refuse the file, it is not read on.
std::optional<std::string> git_config_value(std::string_view text, const GitSetting& wanted);

}  // namespace leasehold
