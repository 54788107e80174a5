#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold {

// U+FFFD, as UTF-8: what JavaScript itself writes for half a character.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// A JSON text with U+FFFD in place of each escape that is one half of a surrogate pair without the other
// ("\ud83d"). JavaScript's strings may end in the middle of a character, and its JSON says so; ours is read
// by a parser that takes no such thing. Nothing: there is none in it. Total.
std::optional<std::string> without_lone_surrogates(std::string_view json);

}  // namespace leasehold
