#include "util/shell_word.h"

#include <fmt/format.h>

#include "util/utf8.h"

namespace leasehold {
namespace {

// In single quotes, where nothing means anything but the quote itself.
std::string single_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// A control character must not reach the terminal or the log that shows the command; $'...' spells it.
std::string ansi_c_quoted(std::string_view text) {
  std::string quoted = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7F) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%=,";
  if (text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  return has_control_character(text) ? ansi_c_quoted(text) : single_quoted(text);
}

}  // namespace leasehold
