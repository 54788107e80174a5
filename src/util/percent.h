// Percent-encoding, as in URLs: %2F for a slash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold {

// Nothing: a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace leasehold
