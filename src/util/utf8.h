// UTF-8 as untrusted bytes: checked whole, and shown safely.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold {

// Where `bytes` stop being UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above
// U+10FFFF. Nothing: valid to the end.
std::optional<std::size_t> invalid_utf8_at(std::string_view bytes);

// Whether valid UTF-8 contains a control character: C0, DEL or C1.
bool has_control_character(std::string_view text);

// `bytes` in double quotes, fit for a message or a terminal whatever they are: control characters, quotes,
// backslashes and what is not UTF-8 are escaped, and a long text is cut.
std::string in_quotes(std::string_view bytes);

// A name inside a sentence: as it is, unless something in it (a blank, a quote, a control character) could be
// taken for a part of the sentence or of the terminal's language; then in quotes.
std::string in_sentence(std::string_view bytes);

}  // namespace leasehold
