#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace leasehold {

enum class Outlives { power_cut, process };

// Gives a file of the caller's own (0600) another text: written beside it and moved into place, so that
// nobody ever reads half of it. Of several processes that do so at once, one wins; one thread of each at a
// time.
std::expected<void, std::errc> replace_file(const std::string& path, std::string_view text,
                                            Outlives what = Outlives::power_cut);

}  // namespace leasehold
