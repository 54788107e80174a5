// The syntax is that of git-config(1), "CONFIGURATION FILE": sections, settings, quotes, escapes, comments
// and lines that go on after a backslash. Only the part needed to find one value is understood.
#include "workspace/git_config.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace leasehold {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

struct Section {
  std::string name;
  std::string subsection;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  std::optional<std::string> find(const GitSetting& wanted) {
    Section section;
    while (skip_blank()) {
      if (next() == '[') {
        auto header = read_section();
        if (!header) return std::nullopt;
        section = std::move(*header);
        continue;
      }
      const std::string key = read_key();
      if (key.empty()) return std::nullopt;
      auto value = read_value();
      if (!value) return std::nullopt;
      // An empty value is no value: git takes it to forget those before.
      if (section.name == wanted.section && section.subsection == wanted.subsection && key == wanted.key &&
          !value->empty()) {
        return value;
      }
    }
    return std::nullopt;
  }

 private:
  bool at_end() const { return text_.empty(); }
  char next() const { return at_end() ? '\n' : text_.front(); }
  char take() {
    const char c = next();
    if (!at_end()) text_.remove_prefix(1);
    // A line may end as on Windows.
    if (c == '\r' && next() == '\n') return take();
    return c;
  }
  void skip_line() {
    while (!at_end() && take() != '\n') {
    }
  }

  // To the next section or setting. False: there is none.
  bool skip_blank() {
    while (!at_end()) {
      const char c = next();
      if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '\n' || is_space(c)) {
        take();
      } else {
        return true;
      }
    }
    return false;
  }

  // [name], [name "subsection"] or, as in old files, [name.subsection].
  std::optional<Section> read_section() {
    take();
    Section section;
    while (is_alphanumeric(next()) || next() == '-' || next() == '.') section.name += lower(take());
    if (const std::size_t dot = section.name.find('.'); dot != std::string::npos) {
      section.subsection = section.name.substr(dot + 1);
      section.name.resize(dot);
    }
    if (is_space(next())) {
      while (is_space(next())) take();
      auto subsection = read_subsection();
      if (!subsection) return std::nullopt;
      section.subsection = std::move(*subsection);
    }
    if (take() != ']') return std::nullopt;
    return section;
  }

  std::optional<std::string> read_subsection() {
    if (take() != '"') return std::nullopt;
    std::string name;
    for (char c = take(); c != '"'; c = take()) {
      if (c == '\\') c = take();
      if (c == '\n') return std::nullopt;
      name += c;
    }
    return name;
  }

  // Empty: this is no setting.
  std::string read_key() {
    std::string key;
    if (!is_letter(next())) return key;
    while (is_alphanumeric(next()) || next() == '-') key += lower(take());
    while (next() == ' ' || next() == '\t') take();
    return key;
  }

  // A setting without "=" is true, which is no text of use here: it reads as empty.
  std::optional<std::string> read_value() {
    const char separator = take();
    if (separator == '\n') return "";
    if (separator != '=') return std::nullopt;

    std::string value;
    std::size_t kept = 0;  // Blanks at the end do not count, unless they are in quotes.
    bool is_quoted = false;
    for (char c = take(); c != '\n'; c = take()) {
      if (!is_quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      }
      if (!is_quoted && is_space(c)) {
        if (!value.empty()) value += c;
        continue;
      }
      if (c == '"') {
        is_quoted = !is_quoted;
        kept = value.size();
        continue;
      }
      if (c == '\\') {
        const auto escaped = unescaped(take());
        if (!escaped) return std::nullopt;
        value += *escaped;
      } else {
        value += c;
      }
      kept = value.size();
    }
    if (is_quoted) return std::nullopt;
    value.resize(kept);
    return value;
  }

  // Nothing for an unknown escape; no character for a line that goes on.
  static std::optional<std::string> unescaped(char c) {
    switch (c) {
      case '\n':
        return "";
      case 'n':
        return "\n";
      case 't':
        return "\t";
      case 'b':
        return "\b";
      case '"':
      case '\\':
        return std::string(1, c);
      default:
        return std::nullopt;
    }
  }

  std::string_view text_;
};

}  // namespace

std::optional<std::string> git_config_value(std::string_view text, const GitSetting& wanted) {
  return Reader(text).find(wanted);
}

}  // namespace leasehold
