#include "util/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace leasehold {
namespace {

// Longer than any sensible path; short enough for one line of a log.
constexpr std::size_t kQuotedBytesMax = 300;

unsigned char byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

bool in(unsigned char byte, unsigned char low, unsigned char high) { return low <= byte && byte <= high; }

struct Form {
  std::size_t length = 0;  // 0: no character starts with this byte.
  // What the second byte may be. This bound alone keeps out overlong forms, surrogates and what is too large.
  unsigned char second_low = 0x80;
  unsigned char second_high = 0xBF;
};

Form form_of(unsigned char lead) {
  if (lead < 0x80) return {.length = 1};
  if (in(lead, 0xC2, 0xDF)) return {.length = 2};
  if (lead == 0xE0) return {.length = 3, .second_low = 0xA0};
  if (lead == 0xED) return {.length = 3, .second_high = 0x9F};
  if (in(lead, 0xE1, 0xEF)) return {.length = 3};
  if (lead == 0xF0) return {.length = 4, .second_low = 0x90};
  if (lead == 0xF4) return {.length = 4, .second_high = 0x8F};
  if (in(lead, 0xF1, 0xF3)) return {.length = 4};
  return {};
}

// The length of the character at `at`; 0 if there is none.
std::size_t character_length(std::string_view bytes, std::size_t at) {
  const Form form = form_of(byte_at(bytes, at));
  if (form.length <= 1) return form.length;
  if (bytes.size() - at < form.length) return 0;
  if (!in(byte_at(bytes, at + 1), form.second_low, form.second_high)) return 0;
  for (std::size_t i = 2; i < form.length; ++i) {
    if (!in(byte_at(bytes, at + i), 0x80, 0xBF)) return 0;
  }
  return form.length;
}

bool is_control(std::string_view character) {
  const unsigned char first = byte_at(character, 0);
  if (first < 0x20 || first == 0x7F) return true;
  return first == 0xC2 && byte_at(character, 1) < 0xA0;
}

}  // namespace

std::optional<std::size_t> invalid_utf8_at(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t length = character_length(bytes, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

bool has_control_character(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = character_length(text, at);
    if (length == 0) return false;
    if (is_control(text.substr(at, length))) return true;
    at += length;
  }
  return false;
}

std::string in_quotes(std::string_view bytes) {
  std::string out = "\"";
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (at >= kQuotedBytesMax) {
      out += "...";
      break;
    }
    const std::size_t length = character_length(bytes, at);
    const std::string_view character = bytes.substr(at, length == 0 ? 1 : length);
    if (character == "\"" || character == "\\") {
      out += '\\';
      out += character;
    } else if (length == 0 || is_control(character)) {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += character;
    }
    at += character.size();
  }
  return out += '"';
}

std::string in_sentence(std::string_view bytes) {
  constexpr std::string_view kPunctuation = "/._-+:@%=#~$&!*?[]{}()<>|^";
  const auto is_plain = [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0 || kPunctuation.contains(c);
  };
  const bool plain = !bytes.empty() && bytes.size() <= kQuotedBytesMax && !invalid_utf8_at(bytes) &&
                     !has_control_character(bytes) && std::ranges::all_of(bytes, is_plain);
  return plain ? std::string(bytes) : in_quotes(bytes);
}

}  // namespace leasehold
