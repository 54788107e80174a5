#include "util/percent.h"

#include <fmt/format.h>

#include <charconv>

namespace leasehold {

std::string percent_encoded(std::string_view text, char separator) {
  if (!text.contains(separator) && !text.contains('%')) return std::string(text);
  std::string out;
  for (const char c : text) {
    if (c == separator || c == '%') {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    if (std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

}  // namespace leasehold
