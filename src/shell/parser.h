// From tokens to the tree of a command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shell/reader.h"
#include "shell/syntax.h"

namespace leasehold::shell {

struct Parsed {
  Script script;        // As far as it could be read.
  std::string problem;  // Empty: that is all of it.
};

Parsed parse(std::string_view text, int depth = 0);

// The same, piece by piece: a long line need not be in memory as a whole.
class PieceParser {
 public:
  // `text` outlives this.
  PieceParser(std::string_view text, int depth) : reader_(text, 0, depth) {}

  // What can be run next: a command line, and those behind it that a here-document keeps together. Nothing:
  // that was all, as far as it could be read.
  std::optional<Script> next();
  const std::string& problem() const { return reader_.problem(); }

 private:
  Reader reader_;
};

// What stands between ( and ), with the ) taken.
Script parse_until_closed(Reader& reader);

}  // namespace leasehold::shell
