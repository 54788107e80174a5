#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/command.h"
#include "leasehold/error.h"

int main(int count, char** values) {
  using namespace leasehold;
  const std::vector<std::string_view> arguments(values + 1, values + count);
  if (arguments.empty()) return kHelp.run({});

  const auto all = commands();
  const auto found = std::ranges::find(all, arguments.front(), &Command::name);
  if (found != all.end()) return (*found)->run(std::span(arguments).subspan(1));
  fmt::print(stderr, "lease: there is no command '{}'. See: lease help\n", arguments.front());
  return info(Code::invalid_argument).exit_code;
}
