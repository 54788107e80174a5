// The words behind a program's name, as it takes them apart.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/value.h"
#include "util/word_list.h"

namespace leasehold::shell {

// How a program's options are written. Lists have blanks between their items.
struct Syntax {
  std::string_view values;    // Options whose value follows: "-e --expression".
  std::string_view attached;  // Options that may have one right behind them: "-i" of sed -i.bak.
  std::string_view mode;      // A word of these letters behind its - is one option, named "mode": chmod -x.
  bool whole = false;         // -word is one option, not several of one letter.
  bool operands_end = false;  // What follows the first operand is not looked at: it is another's.
  bool abbreviates = false;   // Of a long option of these lists its beginning is enough.
  bool no_end = false;  // -- does not end the options: those behind it are another's, and count as well.
};

struct Option {
  std::string name;  // "-i", "--in-place"
  Argument value;    // Empty: none.
};

struct Split {
  std::vector<Option> options;
  Arguments operands;
  std::string unclear;  // Not empty: there may be more options, for this reason.

  bool has(std::string_view list) const;
  Arguments values(std::string_view list) const;
};

Split split(std::span<const Argument> words, const Syntax& syntax);

}  // namespace leasehold::shell
