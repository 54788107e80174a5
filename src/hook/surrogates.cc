#include "hook/surrogates.h"

#include <charconv>

namespace leasehold {
namespace {

constexpr std::size_t kEscapeSize = 6;  // Of \uXXXX

// The number of the escape that the text begins with; 0: it begins with none.
unsigned escaped(std::string_view text) {
  if (text.size() < kEscapeSize || !text.starts_with("\\u")) return 0;
  unsigned value = 0;
  const char* const end = text.data() + kEscapeSize;
  return std::from_chars(text.data() + 2, end, value, 16).ptr == end ? value : 0;
}

bool is_first_half(unsigned value) { return value >= 0xD800 && value < 0xDC00; }
bool is_second_half(unsigned value) { return value >= 0xDC00 && value < 0xE000; }

}  // namespace

std::optional<std::string> without_lone_surrogates(std::string_view json) {
  std::string mended;
  std::size_t kept = 0;  // Up to there it is in `mended`.
  for (std::size_t at = json.find('\\'); at < json.size(); at = json.find('\\', at)) {
    const unsigned value = escaped(json.substr(at));
    if (is_first_half(value) && is_second_half(escaped(json.substr(at + kEscapeSize)))) {
      at += 2 * kEscapeSize;
    } else if (is_first_half(value) || is_second_half(value)) {
      mended.append(json.substr(kept, at - kept)).append("\\ufffd");
      at += kEscapeSize;
      kept = at;
    } else {
      at += 2;  // Also over the backslash of "\\".
    }
  }
  if (kept == 0) return std::nullopt;
  return mended.append(json.substr(kept));
}

}  // namespace leasehold
