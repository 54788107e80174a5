#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/utf8.h"
#include "workspace/pair_pattern.h"

namespace leasehold {
namespace {

using Kind = PairPiece::Kind;

constexpr std::size_t kPatternBytesMax = 1024;

// A rule that asks the disk for more names than this per file is a mistake.
constexpr std::size_t kChoicesMax = 64;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_word(std::string_view text) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, is_allowed);
}

// What a pattern must not contain anywhere.
std::optional<std::string> forbidden(std::string_view text) {
  if (text.empty()) return "it is empty";
  if (text.size() > kPatternBytesMax) return fmt::format("it is longer than {} bytes", kPatternBytesMax);
  if (invalid_utf8_at(text) || has_control_character(text))
    return "it has control characters or is not UTF-8";
  if (text.find('\\') != std::string_view::npos) return "it has a backslash: folders are separated by \"/\"";
  if (text.find_first_of("*?") != std::string_view::npos) {
    return "it has a glob: write {dir} or {sub} for any folders, and {name} for a part of a name";
  }
  return std::nullopt;
}

class Parser {
 public:
  // With `made`, placeholders are added to it (it is `known`, too); without, only known ones may occur.
  Parser(Placeholders* made, const Placeholders& known) : made_(made), known_(known) {}

  std::expected<PairPattern, std::string> parse(std::string_view text) {
    if (text.starts_with('/')) text.remove_prefix(1);
    if (const auto why = forbidden(text)) return std::unexpected(*why);

    const std::vector<std::string_view> segments = split(text, '/');
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (auto why = segment(segments[i], i + 1 == segments.size())) return std::unexpected(std::move(*why));
    }
    if (render_count(pattern_) > kChoicesMax) {
      return std::unexpected(fmt::format("its choices make more than {} names", kChoicesMax));
    }
    return std::move(pattern_);
  }

 private:
  using Problem = std::optional<std::string>;

  Problem segment(std::string_view text, bool is_last) {
    if (text.empty() && is_last) return "it has to end with the name of a file";
    if (text.empty() || text == "." || text == "..") return "it has an empty, \".\" or \"..\" part";
    if ((text == "{dir}" || text == "{sub}") && !is_last) return folders(text.substr(1, 3));

    has_name_ = false;
    while (!text.empty()) {
      const std::size_t brace = text.find_first_of("{}");
      add_text(text.substr(0, brace));
      if (brace == std::string_view::npos) break;
      if (text[brace] == '}') return "it has a } without {";
      const std::size_t end = text.find_first_of("{}", brace + 1);
      if (end == std::string_view::npos || text[end] == '{')
        return "it has a { without } before the next \"/\" or {";
      if (auto why = placeholder(text.substr(brace + 1, end - brace - 1))) return why;
      text.remove_prefix(end + 1);
    }
    if (!is_last) add_text("/");
    return std::nullopt;
  }

  // They bring their slashes along.
  Problem folders(std::string_view word) {
    if (!pattern_.pieces.empty() && pattern_.pieces.back().kind == Kind::folders) {
      return "it has {dir} and {sub} side by side: where one ends is anyone's guess";
    }
    return made_ == nullptr ? use(word)
                            : make(word, {.kind = Kind::folders, .text = {}, .choices = {}, .slot = {}});
  }

  // What is between the braces: word, word:choices or choices.
  Problem placeholder(std::string_view content) {
    const std::size_t colon = content.find(':');
    const std::string_view word = content.substr(0, colon);
    if (word == "dir" || word == "sub")
      return "{dir} and {sub} stand for whole folders: write them as {dir}/";

    PairPiece piece{.kind = Kind::name, .text = {}, .choices = {}, .slot = {}};
    const bool is_named = colon != std::string_view::npos || content.find('|') == std::string_view::npos;
    if (colon != std::string_view::npos || !is_named) {
      piece.kind = Kind::choice;
      for (const std::string_view one : split(is_named ? content.substr(colon + 1) : content, '|')) {
        if (one.empty()) return fmt::format("it has an empty choice in {{{}}}", content);
        piece.choices.emplace_back(one);
      }
    }
    if (!is_named) return add(std::move(piece));
    if (!is_word(word)) {
      return fmt::format(
          "{{{}}} is no placeholder: write a word of small letters, as in {{name}}, or choices, as in "
          "{{test|spec}}",
          content);
    }
    if (made_ != nullptr) return make(word, std::move(piece));
    if (piece.kind == Kind::choice)
      return fmt::format("{{{}}}: only the source may give a name to choices", content);
    return use(word);
  }

  Problem make(std::string_view word, PairPiece piece) {
    if (find(word) != known_.end()) return fmt::format("{{{}}} occurs twice", word);
    if (made_->size() == kPlaceholdersMax)
      return fmt::format("it has more than {} placeholders", kPlaceholdersMax);
    piece.slot = made_->size();
    made_->push_back({std::string(word), piece});
    return add(std::move(piece));
  }

  Problem use(std::string_view word) {
    const auto known = find(word);
    if (known == known_.end()) return fmt::format("{{{}}} does not occur in the source", word);
    return add(known->piece);
  }

  Problem add(PairPiece piece) {
    if (piece.kind == Kind::name && std::exchange(has_name_, true)) {
      return "it has two placeholders in one name: where one ends is anyone's guess";
    }
    pattern_.pieces.push_back(std::move(piece));
    return std::nullopt;
  }

  Placeholders::const_iterator find(std::string_view word) const {
    return std::ranges::find(known_, word, &Placeholder::name);
  }

  void add_text(std::string_view text) {
    if (text.empty()) return;
    if (pattern_.pieces.empty() || pattern_.pieces.back().kind != Kind::text) {
      pattern_.pieces.push_back({.kind = Kind::text, .text = {}, .choices = {}, .slot = {}});
    }
    pattern_.pieces.back().text += text;
  }

  Placeholders* made_;
  const Placeholders& known_;
  PairPattern pattern_;
  bool has_name_ = false;  // In the current segment.
};

}  // namespace

std::expected<PairPattern, std::string> parse_source_pattern(std::string_view text,
                                                             Placeholders& placeholders) {
  return Parser(&placeholders, placeholders).parse(text);
}

std::expected<PairPattern, std::string> parse_test_pattern(std::string_view text,
                                                           const Placeholders& placeholders) {
  return Parser(nullptr, placeholders).parse(text);
}

}  // namespace leasehold
