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

}  // namespace leasehold
