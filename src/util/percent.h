// Percent-encoding, as in URLs: %2F for a slash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold {

// `text` without any `separator`: that and the percent sign are written as %XX. Different texts stay
// different.
std::string percent_encoded(std::string_view text, char separator);

// Nothing: a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace leasehold
