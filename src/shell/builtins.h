// Commands that change the shell itself.
#pragma once

#include <string_view>

#include "shell/call.h"

namespace leasehold::shell {

struct Builtin {
  std::string_view name;
  Lines (*run)(const Call& call);
};

// Nothing: it is a program, or does nothing to the shell.
const Builtin* find_builtin(std::string_view name);

// Where a program goes that is told to work elsewhere: as chdir(2) does, ".." leaves what a link leads to.
void change_directory(const Call& call, const Argument& folder);

// export, declare and the like: assignments behind them stay.
bool is_declaration(const Argument& word);

}  // namespace leasehold::shell
