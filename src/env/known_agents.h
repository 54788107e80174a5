#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace leasehold {

// A coding agent as the process table shows it.
struct KnownAgent {
  std::string_view name;
  // What its program, or the script that its interpreter runs, is called. Empty ones mean nothing.
  std::array<std::string_view, 2> programs;
  // What the path of that program or script contains. Empty ones mean nothing.
  std::array<std::string_view, 2> folders;
  const char* pid_variable = nullptr;  // Where it tells its children its pid; null: nowhere.
};

std::span<const KnownAgent> known_agents();

// The agent that a process of this name and command line is; null: none that we know.
const KnownAgent* agent_running_as(std::string_view comm, std::span<const std::string> arguments);

// Whether this is a shell started to run one command: it ends with it.
bool is_shell_for_one_command(std::span<const std::string> arguments);

}  // namespace leasehold
