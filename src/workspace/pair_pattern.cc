#include "workspace/pair_pattern.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace leasehold {
namespace {

using Kind = PairPiece::Kind;

// Nobody has a tree that needs more; a path made of src/src/src/... would.
constexpr std::size_t kMatchesMax = 16;

class Matcher {
 public:
  Matcher(const PairPattern& pattern, std::string_view path) : pieces_(pattern.pieces), path_(path) {}

  std::vector<Captures> run() {
    match_from(0, 0);
    return std::move(found_);
  }

 private:
  void match_from(std::size_t index, std::size_t at) {
    if (found_.size() == kMatchesMax) return;
    if (index == pieces_.size()) {
      if (at == path_.size()) found_.push_back(captures_);
      return;
    }
    const PairPiece& piece = pieces_[index];
    if (piece.kind == Kind::text) return match_text(piece.text, index, at);
    // A placeholder that occurs again stands for the same text.
    if (piece.slot && captures_[*piece.slot].data() != nullptr)
      return match_text(captures_[*piece.slot], index, at);
    if (piece.kind == Kind::folders) return match_folders(index, at);
    if (piece.kind == Kind::name) return match_name(index, at);
    match_choice(piece, index, at);
  }

  void match_text(std::string_view text, std::size_t index, std::size_t at) {
    if (path_.substr(at).starts_with(text)) match_from(index + 1, at + text.size());
  }

  void match_folders(std::size_t index, std::size_t at) {
    capture(index, at, at);
    for (std::size_t slash = path_.find('/', at); slash != std::string_view::npos;
         slash = path_.find('/', slash + 1)) {
      capture(index, at, slash + 1);
    }
  }

  void match_name(std::size_t index, std::size_t at) {
    const std::size_t end_max = std::min(path_.find('/', at), path_.size());
    for (std::size_t end = at + 1; end <= end_max; ++end) {
      if (may_follow(index, end)) capture(index, at, end);
    }
  }

  // A glance at the text behind a name spares most of the attempts.
  bool may_follow(std::size_t index, std::size_t at) const {
    if (index + 1 == pieces_.size()) return at == path_.size();
    const PairPiece& next = pieces_[index + 1];
    return next.kind != Kind::text || (at < path_.size() && path_[at] == next.text.front());
  }

  void match_choice(const PairPiece& piece, std::size_t index, std::size_t at) {
    for (const std::string& choice : piece.choices) {
      if (path_.substr(at).starts_with(choice)) capture(index, at, at + choice.size());
    }
  }

  // Goes on with the piece standing for path_[at, end).
  void capture(std::size_t index, std::size_t at, std::size_t end) {
    const auto slot = pieces_[index].slot;
    if (slot) captures_[*slot] = path_.substr(at, end - at);
    match_from(index + 1, end);
    if (slot) captures_[*slot] = {};
  }

  const std::vector<PairPiece>& pieces_;
  std::string_view path_;
  Captures captures_{};
  std::vector<Captures> found_;
};

void render_from(const PairPattern& pattern, std::size_t index, const Captures& captures, std::string& out,
                 const std::function<void()>& each) {
  if (index == pattern.pieces.size()) return each();
  const PairPiece& piece = pattern.pieces[index];
  const std::size_t before = out.size();
  const auto with = [&](std::string_view text) {
    out += text;
    render_from(pattern, index + 1, captures, out, each);
    out.resize(before);
  };
  if (piece.slot) return with(captures[*piece.slot]);
  if (piece.kind == Kind::text) return with(piece.text);
  for (const std::string& choice : piece.choices) with(choice);
}

}  // namespace

std::vector<Captures> match(const PairPattern& pattern, std::string_view path) {
  return Matcher(pattern, path).run();
}

void render(const PairPattern& pattern, const Captures& captures, std::string& out,
            const std::function<void()>& each) {
  render_from(pattern, 0, captures, out, each);
}

std::size_t render_count(const PairPattern& pattern) {
  std::size_t count = 1;
  for (const PairPiece& piece : pattern.pieces) {
    if (piece.kind != Kind::choice || piece.slot) continue;
    if (count > std::numeric_limits<std::size_t>::max() / piece.choices.size()) {
      return std::numeric_limits<std::size_t>::max();
    }
    count *= piece.choices.size();
  }
  return count;
}

std::string_view extension(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0.
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

std::vector<std::string_view> extensions(const PairPattern& pattern) {
  const PairPiece& last = pattern.pieces.back();
  if (last.kind == Kind::text) {
    if (const std::string_view found = extension(last.text); !found.empty()) return {found};
    return {};
  }
  if (last.kind != Kind::choice || pattern.pieces.size() < 2) return {};

  const bool behind_dot = pattern.pieces[pattern.pieces.size() - 2].text.ends_with('.');
  std::vector<std::string_view> found;
  for (const std::string& choice : last.choices) {
    const std::string_view own = extension(choice);
    if (own.empty() && !behind_dot) return {};
    found.push_back(own.empty() ? std::string_view(choice) : own);
  }
  return found;
}

}  // namespace leasehold
