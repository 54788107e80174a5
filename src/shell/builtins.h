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

// export, declare and the like: assignments behind them stay.
bool is_declaration(const Argument& word);

}  // namespace leasehold::shell
