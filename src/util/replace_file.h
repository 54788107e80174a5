#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace leasehold {

// Gives a file of the caller's own (0600) another text: written beside it, on the disk, and moved into place,
// so that nobody ever reads half of it. One caller at a time.
std::expected<void, std::errc> replace_file(const std::string& path, std::string_view text);

}  // namespace leasehold
