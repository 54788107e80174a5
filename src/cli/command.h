#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace leasehold {

struct Command {
  std::string_view name;
  std::string_view usage;
  std::string_view summary;
  int (*run)(std::span<const std::string_view> arguments);  // Returns the exit status.
  std::size_t arguments_max = 0;
};

// All commands, in the order users see them.
std::span<const Command* const> commands();

extern const Command kDemo;
extern const Command kHelp;
extern const Command kRepoLock;
extern const Command kVersion;

}  // namespace leasehold
