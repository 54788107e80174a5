#include <fmt/format.h>

#include "cli/call.h"
#include "cli/commands.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  if (call.out().json()) {
    call.out().document({{"name", "lease"}, {"version", LEASEHOLD_VERSION}});
  } else {
    call.out().print(fmt::format("lease {}\n", LEASEHOLD_VERSION));
  }
  return 0;
}

}  // namespace

const Command kVersion = {
    .name = "version",
    .synopsis = "",
    .summary = "Print the version",
    .description = "Prints the name and version of the program.",
    .uses = Uses::nothing,
    .run = run,
};

}  // namespace leasehold
