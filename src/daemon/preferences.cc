#include "daemon/preferences.h"

#include <algorithm>
#include <charconv>

#include "util/lower_case.h"

namespace leasehold::daemon {
namespace {

constexpr std::int64_t kDay = 86'400;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// Up to the separator, which a quoted string may have in it, and takes both off.
std::string_view take_part(std::string_view& text, char separator) {
  bool is_quoted = false;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (is_quoted && text[end] == '\\') {
      ++end;
    } else if (text[end] == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && text[end] == separator) {
      break;
    }
  }
  end = std::min(end, text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

std::string unquoted(std::string_view word) {
  if (word.size() < 2 || !word.starts_with('"') || !word.ends_with('"')) return std::string(word);
  word = word.substr(1, word.size() - 2);
  std::string plain;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 1 < word.size()) ++i;
    plain += word[i];
  }
  return plain;
}

}  // namespace

std::optional<std::string> preference(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    std::string_view one = take_part(header, ',');
    std::string_view value = take_part(one, ';');  // What follows are parameters; ours have none.
    if (lower_case(take_part(value, '=')) == name) return unquoted(trimmed(value));
  }
  return std::nullopt;
}

std::optional<Duration> preferred_wait(std::string_view header) {
  const auto text = preference(header, "wait");
  if (!text || text->empty() || text->find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  std::int64_t seconds = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (read.ec == std::errc::result_out_of_range) seconds = kDay;
  if (seconds == 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, kDay));
}

bool accepts(std::string_view header, std::string_view type) {
  while (!header.empty()) {
    std::string_view one = take_part(header, ',');
    if (lower_case(take_part(one, ';')) != type) continue;
    bool is_ruled_out = false;
    while (!one.empty()) {
      std::string_view value = take_part(one, ';');
      if (lower_case(take_part(value, '=')) != "q") continue;
      value = trimmed(value);
      is_ruled_out = value.starts_with('0') && value.find_first_not_of("0.") == std::string_view::npos;
    }
    if (!is_ruled_out) return true;
  }
  return false;
}

}  // namespace leasehold::daemon
