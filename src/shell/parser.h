// From tokens to the tree of a command line.
#pragma once

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

// What stands between ( and ), with the ) taken.
Script parse_until_closed(Reader& reader);

}  // namespace leasehold::shell
