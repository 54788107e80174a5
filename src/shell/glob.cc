#include "shell/glob.h"

#include <fnmatch.h>

#include <algorithm>

#include "util/path_text.h"

namespace leasehold::shell {
namespace {

std::string unescaped(std::string_view pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    text += pattern[i];
  }
  return text;
}

bool is_active(std::string_view segment) {
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] == '\\') {
      ++i;
    } else if (std::string_view("*?[(").contains(segment[i])) {
      return true;
    }
  }
  return false;
}

class Search {
 public:
  Search(const FolderView& files, Budget& budget, int flags)
      : files_(files), budget_(budget), flags_(flags) {}

  // `found` is what leads here, as it will be named; `place` is where that is.
  bool go(std::string_view rest, const std::string& found, const std::string& place) {
    const std::size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    const bool is_last = slash == std::string_view::npos;
    const std::string_view after = is_last ? std::string_view() : rest.substr(slash + 1);
    if (segment == "**") {
      const bool has_name = !after.empty() && !after.contains('/') && after != "**";
      results.push_back({.text = found.empty() ? "." : found,
                         .is_tree = true,
                         .name = has_name ? std::string(after) : std::string()});
      return true;
    }
    if (!is_active(segment)) {
      const std::string name = unescaped(segment);
      const std::string next = join(place, name);
      if (is_last) {
        if (name.empty() || files_.exists(next)) results.push_back({.text = found + name});
        return true;
      }
      return go(after, found + name + '/', next);
    }
    const auto names = files_.names(place);
    if (!names || !budget_.spend(static_cast<long>(names->size() / 8 + 1))) return false;
    const std::string pattern(segment);
    for (const std::string& name : *names) {
      if (fnmatch(pattern.c_str(), name.c_str(), flags_) != 0) continue;
      if (is_last) {
        if (!budget_.spend()) return false;
        results.push_back({.text = found + name});
      } else if (files_.is_folder(join(place, name)) && !go(after, found + name + '/', join(place, name))) {
        return false;
      }
    }
    return true;
  }

  Arguments results;

 private:
  const FolderView& files_;
  Budget& budget_;
  const int flags_;
};

}  // namespace

std::string as_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\*?[]()|+@!").contains(c)) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

bool has_pattern(std::string_view text) {
  // A [ alone is a name, most often that of a command.
  const std::size_t bracket = text.find('[');
  return text.find_first_of("*?(") != std::string_view::npos ||
         (bracket != std::string_view::npos && text.find(']', bracket) != std::string_view::npos);
}

std::optional<Arguments> matching(const std::string& pattern, const std::string& folder,
                                  const FolderView& files, Budget& budget, bool with_hidden) {
  // Matching takes time that grows fast with the number of stars.
  constexpr std::size_t kPatternMax = 500;
  constexpr std::ptrdiff_t kStarsMax = 20;
  if (pattern.size() > kPatternMax || std::ranges::count(pattern, '*') > kStarsMax) return std::nullopt;
  Search search(files, budget, FNM_EXTMATCH | (with_hidden ? 0 : FNM_PERIOD));
  const bool is_absolute = pattern.starts_with('/');
  if (!search.go(is_absolute ? std::string_view(pattern).substr(1) : std::string_view(pattern),
                 is_absolute ? "/" : "", is_absolute ? "/" : folder)) {
    return std::nullopt;
  }
  return std::move(search.results);
}

}  // namespace leasehold::shell
