#include <fmt/format.h>

#include <array>

#include "cli/command.h"

namespace leasehold {
namespace {

int help(std::span<const std::string_view>) {
  fmt::print("usage: lease <command> [arguments]\n\n");
  for (const Command* command : commands()) fmt::print("  {:<10} {}\n", command->name, command->summary);
  return 0;
}

int version(std::span<const std::string_view>) {
  fmt::print("lease {}\n", LEASEHOLD_VERSION);
  return 0;
}

constexpr std::array kCommands = {&kDemo, &kRepoLock, &kVersion, &kHelp};

}  // namespace

const Command kHelp = {"help", "lease help", "Print this", help};
const Command kVersion = {"version", "lease version", "Print the version", version};

std::span<const Command* const> commands() { return kCommands; }

}  // namespace leasehold
