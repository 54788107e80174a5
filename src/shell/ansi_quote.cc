#include "shell/ansi_quote.h"

namespace leasehold::shell {
namespace {

constexpr std::string_view kHex = "0123456789abcdefABCDEF";
constexpr std::string_view kOctal = "01234567";

// Takes up to `most` digits off the front of `rest`.
unsigned long number(std::string_view& rest, std::string_view digits, std::size_t most) {
  std::size_t count = 0;
  while (count < most && count < rest.size() && digits.contains(rest[count])) ++count;
  const std::string text(rest.substr(0, count));
  rest.remove_prefix(count);
  return text.empty() ? 0 : std::stoul(text, nullptr, digits == kHex ? 16 : 8);
}

void add_utf8(std::string& out, unsigned long code) {
  const auto byte = [&](unsigned long value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | (code >> 18 & 0x07));
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

}  // namespace

std::string ansi_unquoted(std::string_view text) {
  constexpr std::string_view kLetters = "abefnrtv";
  constexpr std::string_view kMeant = "\a\b\033\f\n\r\t\v";
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\' || text.empty()) {
      out += c;
      continue;
    }
    const char escaped = text.front();
    if (kOctal.contains(escaped)) {
      out += static_cast<char>(number(text, kOctal, 3));
      continue;
    }
    text.remove_prefix(1);
    if (const std::size_t letter = kLetters.find(escaped); letter != std::string_view::npos) {
      out += kMeant[letter];
    } else if (escaped == 'x') {
      out += static_cast<char>(number(text, kHex, 2));
    } else if (escaped == 'u' || escaped == 'U') {
      add_utf8(out, number(text, kHex, escaped == 'u' ? 4 : 8));
    } else if (std::string_view("\\'\"?").contains(escaped)) {
      out += escaped;
    } else {
      out += '\\';
      out += escaped;
    }
  }
  return out;
}

}  // namespace leasehold::shell
