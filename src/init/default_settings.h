#pragma once

#include <string_view>

namespace leasehold {

// What a new .leasehold.toml says: every line is a comment that shows a default.
std::string_view default_settings();

}  // namespace leasehold
