#include "shell/braces.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "util/number.h"

namespace leasehold::shell {
namespace {

// A character that may be a brace, or a part that is none.
struct Atom {
  char c = '\0';
  const Part* part = nullptr;

  bool is(char wanted) const { return part == nullptr && c == wanted; }
};
using Atoms = std::vector<Atom>;

Atoms atoms_of(const Word& word) {
  Atoms atoms;
  for (const Part& part : word.parts) {
    if (part.kind != Part::Kind::text || part.quoted) {
      atoms.push_back({.part = &part});
    } else {
      for (const char c : part.text) atoms.push_back({.c = c});
    }
  }
  return atoms;
}

Word word_of(const Atoms& atoms) {
  Word word;
  for (const Atom& atom : atoms) {
    if (atom.part != nullptr) {
      word.parts.push_back(*atom.part);
      continue;
    }
    if (word.parts.empty() || word.parts.back().kind != Part::Kind::text || word.parts.back().quoted) {
      word.parts.emplace_back();
    }
    word.parts.back().text += atom.c;
  }
  return word;
}

std::optional<long> number(std::string_view text) {
  const auto value = parse_number<long>(text);
  return value && std::abs(*value) < 1'000'000 ? value : std::nullopt;
}

// 1..3, 01..10, a..e; empty: it is none.
std::vector<Atoms> sequence(const Atoms& inside, std::size_t most) {
  std::string text;
  for (const Atom& atom : inside) text += atom.part == nullptr ? atom.c : '\0';
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return {};
  const std::string_view first = std::string_view(text).substr(0, dots);
  std::string_view last = std::string_view(text).substr(dots + 2);
  long step = 1;
  if (const std::size_t more = last.find(".."); more != std::string_view::npos) {
    const auto given = number(last.substr(more + 2));
    if (!given) return {};
    step = std::max(std::abs(*given), 1L);
    last = last.substr(0, more);
  }
  const bool is_letters = first.size() == 1 && last.size() == 1 && !number(first) && !number(last);
  const auto from = is_letters ? std::optional<long>(first[0]) : number(first);
  const auto to = is_letters ? std::optional<long>(last[0]) : number(last);
  if (!from || !to) return {};
  const bool is_padded = !is_letters && (first.starts_with('0') || last.starts_with('0'));
  const std::size_t width = is_padded ? std::max(first.size(), last.size()) : 0;
  std::vector<Atoms> all;
  for (long value = *from; *from <= *to ? value <= *to : value >= *to; value += *from <= *to ? step : -step) {
    if (all.size() > most) break;
    std::string shown = is_letters ? std::string(1, static_cast<char>(value)) : std::to_string(value);
    if (shown.size() < width) shown.insert(0, width - shown.size(), '0');
    Atoms& one = all.emplace_back();
    for (const char c : shown) one.push_back({.c = c});
  }
  return all;
}

struct Braces {
  std::size_t end = 0;  // Where the } is; 0: it is not closed.
  std::vector<std::size_t> commas;
};

Braces closing(const Atoms& atoms, std::size_t begin) {
  Braces found;
  int open = 0;
  for (std::size_t i = begin; i < atoms.size(); ++i) {
    if (atoms[i].is('{')) ++open;
    if (atoms[i].is(',') && open == 1) found.commas.push_back(i);
    if (atoms[i].is('}') && --open == 0) {
      found.end = i;
      break;
    }
  }
  return found;
}

std::vector<Atoms> alternatives(const Atoms& atoms, std::size_t begin, const Braces& braces,
                                std::size_t most) {
  const auto part = [&](std::size_t from, std::size_t to) {
    return Atoms(atoms.begin() + static_cast<std::ptrdiff_t>(from),
                 atoms.begin() + static_cast<std::ptrdiff_t>(to));
  };
  if (braces.commas.empty()) return sequence(part(begin + 1, braces.end), most);
  std::vector<Atoms> all;
  std::size_t from = begin + 1;
  for (const std::size_t comma : braces.commas) {
    all.push_back(part(from, comma));
    from = comma + 1;
  }
  all.push_back(part(from, braces.end));
  return all;
}

bool expand(const Atoms& atoms, std::size_t from, std::size_t most, std::vector<Word>& words) {
  // Longer ones are data, not names.
  constexpr std::size_t kAtomsMax = 4000;
  for (std::size_t i = from; i < atoms.size() && atoms.size() < kAtomsMax; ++i) {
    if (!atoms[i].is('{')) continue;
    const Braces braces = closing(atoms, i);
    if (braces.end == 0) break;
    const auto choices = alternatives(atoms, i, braces, most);
    if (choices.empty()) continue;
    for (const Atoms& choice : choices) {
      Atoms one(atoms.begin(), atoms.begin() + static_cast<std::ptrdiff_t>(i));
      one.insert(one.end(), choice.begin(), choice.end());
      one.insert(one.end(), atoms.begin() + static_cast<std::ptrdiff_t>(braces.end) + 1, atoms.end());
      if (!expand(one, i, most, words)) return false;
    }
    return true;
  }
  words.push_back(word_of(atoms));
  return words.size() <= most;
}

}  // namespace

std::optional<std::vector<Word>> braced(const Word& word, std::size_t most) {
  const bool may_have = std::ranges::any_of(word.parts, [](const Part& part) {
    return part.kind == Part::Kind::text && !part.quoted && part.text.contains('{');
  });
  std::vector<Word> words;
  if (!may_have) {
    words.push_back(word);
  } else if (!expand(atoms_of(word), 0, most, words)) {
    return std::nullopt;
  }
  return words;
}

}  // namespace leasehold::shell
