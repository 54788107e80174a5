// The pattern language of pair rules. A pattern is a path from the workspace root in which braces stand for
// what varies:
//
//   {dir}, {sub}     any number of whole folders, also none; alone between slashes
//   {name}           a part of one name, at least one character; any word but dir and sub does
//   {ext:ts|tsx}     one of these, remembered as `ext`
//   {test|spec}      one of these
//
// The source pattern takes a path apart; a test pattern puts it together again from what the source's
// placeholders stood for, once for each choice:
//
//   source  {dir}/src/{sub}/{name}.{ext:ts|js}
//   path    packages/a/src/http/get.ts            dir = packages/a, sub = http, name = get, ext = ts
//   test    {dir}/tests/{sub}/{name}.{test|spec}.{ext}
//   paths   packages/a/tests/http/get.test.ts     and get.spec.ts beside it
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

// More different placeholders in one rule than anybody can read.
inline constexpr std::size_t kPlaceholdersMax = 8;

struct PairPiece {
  enum class Kind {
    text,
    folders,  // Any number of whole names, each with its slash.
    name,     // At least one character, no slash.
    choice,
  };

  Kind kind{};
  std::string text;                  // For text.
  std::vector<std::string> choices;  // For choice.
  std::optional<std::size_t> slot;   // Where what it stands for is remembered. Nothing: it is not.
};

struct PairPattern {
  std::vector<PairPiece> pieces;
};

// The placeholders of a rule, by slot. The source pattern makes them; test patterns use them.
struct Placeholder {
  std::string name;
  PairPiece piece;
};
using Placeholders = std::vector<Placeholder>;

// What each slot stands for: views into the path that was matched. `folders` are with their last slash.
using Captures = std::array<std::string_view, kPlaceholdersMax>;

// The error says what is wrong with the pattern.
std::expected<PairPattern, std::string> parse_source_pattern(std::string_view text,
                                                             Placeholders& placeholders);
std::expected<PairPattern, std::string> parse_test_pattern(std::string_view text,
                                                           const Placeholders& placeholders);

// Every way to read `path` (without its leading slash) by the pattern, but no more than a few:
// src/src/src/a.ts fits {dir}/src/{sub}/{name}.ts three times, and each may have its test.
std::vector<Captures> match(const PairPattern& pattern, std::string_view path);

// Appends to `out` what the pattern makes of the captures, calls `each`, and takes it away again; once per
// choice.
void render(const PairPattern& pattern, const Captures& captures, std::string& out,
            const std::function<void()>& each);

// How many times render() calls `each`.
std::size_t render_count(const PairPattern& pattern);

// What the last name of all paths that fit ends with, behind its last dot. Empty: it may be anything.
std::vector<std::string_view> extensions(const PairPattern& pattern);

// The same of one path; empty if it has none.
std::string_view extension(std::string_view path);

}  // namespace leasehold
