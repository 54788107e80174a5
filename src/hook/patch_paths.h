// Which files a patch in the apply_patch format touches.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

// Every file that is added, deleted or updated, and both ends of a move; as written, so most often relative
// to where it is applied. Nothing: this is no such patch. Takes what the tools that apply it take: a patch in
// a here-document, blanks around headers.
std::optional<std::vector<std::string>> patch_paths(std::string_view text);

// A patch that a shell's command line gives to apply_patch, and the folder it changes to before (empty:
// none).
struct ShellPatch {
  std::string folder;
  std::vector<std::string> paths;

  bool operator==(const ShellPatch&) const = default;
};
std::optional<ShellPatch> shell_patch(std::string_view command);

}  // namespace leasehold
