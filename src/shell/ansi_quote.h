#pragma once

#include <string>
#include <string_view>

namespace leasehold::shell {

// What $'...' stands for, of what is between its quotes; also what echo -e and printf make of a text.
std::string ansi_unquoted(std::string_view text);

}  // namespace leasehold::shell
