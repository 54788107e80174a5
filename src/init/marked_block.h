// Lines of ours between two marker lines, in a file whose comments start with '#'.
#pragma once

#include <string>
#include <string_view>

namespace leasehold {

inline constexpr std::string_view kBlockBegin = "# >>> leasehold: taken out by `lease init --uninstall`";
inline constexpr std::string_view kBlockEnd = "# <<< leasehold";

// The text with `lines` (each ended by '\n') as a block at its end, or behind its first line. A text whose
// last line has no end gets the block without one: so it can be told later what it was. Line ends are those
// of the text.
std::string with_block_at_end(std::string_view text, std::string_view lines);
std::string with_block_behind_first_line(std::string_view text, std::string_view lines);

// The text as it was before. A text without a block comes back as it is.
std::string without_block(std::string_view text);

bool has_block(std::string_view text);
// Whether the text has a block with just these lines.
bool has_block_of(std::string_view text, std::string_view lines);

// The markers with `lines` between them.
std::string block(std::string_view lines);

}  // namespace leasehold
