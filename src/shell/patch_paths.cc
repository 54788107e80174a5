#include "shell/patch_paths.h"

#include "util/unique.h"

namespace leasehold {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kBegin = "*** Begin Patch";
constexpr std::string_view kEnd = "*** End Patch";

std::string_view without_blanks_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view() : without_blanks_behind(text.substr(begin));
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// What follows `header` on the line.
std::optional<std::string_view> after(std::string_view line, std::string_view header) {
  if (!line.starts_with(header)) return std::nullopt;
  return trimmed(line.substr(header.size()));
}

}  // namespace

std::optional<std::vector<std::string>> patch_paths(std::string_view text) {
  const std::size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  next_line(text);
  std::vector<std::string> paths;
  bool in_update = false;
  while (!text.empty()) {
    const std::string_view whole = next_line(text);
    // Inside an update a blank in front means a line of the file, which may read like a header.
    const std::string_view line = in_update ? without_blanks_behind(whole) : trimmed(whole);
    if (line == kEnd) break;
    for (const std::string_view header :
         {"*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:"}) {
      const auto path = after(line, header);
      if (!path) continue;
      if (!path->empty()) add_unique(paths, std::string(*path));
      if (header != "*** Move to:") in_update = header == "*** Update File:";
    }
  }
  return paths;
}

}  // namespace leasehold
