// Sets of characters, for what is looked at a character at a time.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace leasehold::shell {

using Characters = std::array<bool, 256>;

constexpr Characters characters(std::string_view all) {
  Characters table{};
  for (const char c : all) table[static_cast<unsigned char>(c)] = true;
  return table;
}

inline bool is_in(const Characters& table, char c) { return table[static_cast<unsigned char>(c)]; }

// The first of them at or behind `from`; the size of the text: there is none.
inline std::size_t find_any(const Characters& table, std::string_view text, std::size_t from) {
  while (from < text.size() && !is_in(table, text[from])) ++from;
  return from;
}

// Equality of short words, most of which differ in their first character.
inline bool same_word(std::string_view one, std::string_view other) {
  return one.size() == other.size() && (one.empty() || (one[0] == other[0] && one == other));
}

}  // namespace leasehold::shell
