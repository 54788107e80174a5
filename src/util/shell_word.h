#pragma once

#include <string>
#include <string_view>

namespace leasehold {

// A text as one word of a shell command that can be pasted, and shown on a terminal, whatever it holds.
std::string shell_word(std::string_view text);

}  // namespace leasehold
