#include "init/marked_block.h"

#include <fmt/format.h>

#include <algorithm>

namespace leasehold {
namespace {

std::string with_line_ends(std::string_view lines, std::string_view line_end) {
  std::string result;
  for (const char letter : lines) {
    if (letter == '\n') {
      result += line_end;
    } else {
      result += letter;
    }
  }
  return result;
}

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The block with its line ends; empty: there is none.
Span find_block(std::string_view text) {
  std::size_t begin = text.find(kBlockBegin);
  if (begin == std::string_view::npos || (begin > 0 && text[begin - 1] != '\n')) return {};
  const std::size_t last = text.find(kBlockEnd, begin);
  if (last == std::string_view::npos) return {};
  const std::size_t line_end = text.find('\n', last);
  if (line_end != std::string_view::npos) return {begin, line_end + 1};
  // The line break before it is ours, too; it is of the kind that follows the marker.
  const bool is_crlf = text.substr(begin + kBlockBegin.size()).starts_with('\r');
  if (begin > 0) begin -= std::min<std::size_t>(begin, is_crlf ? 2 : 1);
  return {begin, text.size()};
}

}  // namespace

std::string block(std::string_view lines) { return fmt::format("{}\n{}{}\n", kBlockBegin, lines, kBlockEnd); }

std::string with_block_at_end(std::string_view text, std::string_view lines) {
  const std::string_view line_end = text.contains("\r\n") ? "\r\n" : "\n";
  std::string own = with_line_ends(block(lines), line_end);
  if (text.empty() || text.ends_with('\n')) return std::string(text) + own;
  own.resize(own.size() - line_end.size());
  return fmt::format("{}{}{}", text, line_end, own);
}

std::string with_block_behind_first_line(std::string_view text, std::string_view lines) {
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return with_block_at_end(text, lines);
  std::string result(text);
  return result.insert(line_end + 1, block(lines));
}

std::string without_block(std::string_view text) {
  const Span span = find_block(text);
  std::string result(text);
  return result.erase(span.begin, span.end - span.begin);
}

bool has_block(std::string_view text) { return find_block(text).end > 0; }

bool has_block_of(std::string_view text, std::string_view lines) {
  const auto [begin, end] = find_block(text);
  std::string present(text.substr(begin, end - begin));
  std::erase(present, '\r');
  if (present.starts_with('\n')) present = present.substr(1) + '\n';
  return present == block(lines);
}

}  // namespace leasehold
