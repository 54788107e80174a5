// Numbers in text that somebody else wrote.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace leasehold {

// All of the text, in decimal. Nothing: it is no such number, or does not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace leasehold
