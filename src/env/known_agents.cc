#include "env/known_agents.h"

#include <algorithm>

namespace leasehold {
namespace {

using Words = std::span<const std::string_view>;

// A process that is taken for an agent and is not one ends the leases of a living agent when it ends. So
// names match whole, and folders are those that only the agent's own program stands in.
//
// Claude Code's native program is named by its version (".../claude/versions/2.1.325"), and called so when
// it starts itself. Cursor's runs a node of its own.
constexpr std::array<KnownAgent, 9> kAgents = {{
    {"claude", {"claude"}, {"/@anthropic-ai/claude-code/", "/claude/versions/"}, "CLAUDE_PID"},
    {"codex", {"codex"}, {"/@openai/codex/"}},
    {"gemini", {"gemini"}, {"/@google/gemini-cli/"}},
    {"copilot", {"copilot"}, {"/@github/copilot/"}},
    {"cursor", {"cursor-agent", "cursor"}, {"/cursor-agent/versions/"}},
    {"opencode", {"opencode"}, {"/node_modules/opencode-ai/"}, "OPENCODE_PID"},
    {"windsurf", {"windsurf"}},
    {"cline", {"cline"}, {"/node_modules/cline/"}},
    {"aider", {"aider"}},
}};

// Programs of an agent that start one command and end with it. Codex starts itself under such names.
constexpr std::array<std::string_view, 4> kHelpers = {"codex-linux-sandbox", "codex-execve-wrapper",
                                                      "apply_patch", "applypatch"};

constexpr std::array<std::string_view, 7> kShells = {"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"};

bool contains(Words words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

// "/usr/bin/node" -> "node", "-bash" (a login shell) -> "bash".
std::string_view base_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with('-') ? name.substr(1) : name;
}

bool is_interpreter(std::string_view program) {
  // "python3.11" and "nodejs" as well.
  return program == "node" || program == "nodejs" || program == "bun" || program == "deno" ||
         program.starts_with("python");
}

bool is_program_of(const KnownAgent& agent, std::string_view path) {
  const std::string_view name = base_name(path);
  if (name.empty()) return false;
  const auto stands_in = [&](std::string_view folder) { return !folder.empty() && path.contains(folder); };
  return contains(agent.programs, name) || std::ranges::any_of(agent.folders, stands_in);
}

const KnownAgent* agent_at(std::string_view path) {
  const auto* const found =
      std::ranges::find_if(kAgents, [&](const KnownAgent& agent) { return is_program_of(agent, path); });
  return found == kAgents.end() ? nullptr : found;
}

}  // namespace

std::span<const KnownAgent> known_agents() { return kAgents; }

const KnownAgent* agent_running_as(std::string_view comm, std::span<const std::string> arguments) {
  // A process without a command line still has the name it was started by, or chose.
  if (arguments.empty()) return agent_at(comm);

  const std::string_view program = base_name(arguments.front());
  // A shell script is named after its file, and may be somebody's hook for the agent of that name.
  if (contains(kHelpers, program) || contains(kShells, program)) return nullptr;
  if (const KnownAgent* agent = agent_at(arguments.front())) return agent;
  if (is_interpreter(program)) {
    const auto script = std::ranges::find_if(
        arguments.subspan(1), [](const std::string& argument) { return !argument.starts_with('-'); });
    if (script != arguments.end()) {
      if (const KnownAgent* agent = agent_at(*script)) return agent;
    }
  }
  return agent_at(comm);
}

bool is_shell_for_one_command(std::span<const std::string> arguments) {
  if (arguments.size() < 2 || !contains(kShells, base_name(arguments.front()))) return false;
  // "-c", and "-lc" and the like. Only what stands before the script can be an option of the shell.
  for (const std::string& argument : arguments.subspan(1)) {
    if (!argument.starts_with('-') && !argument.starts_with('+')) return false;
    if (!argument.starts_with("--") && argument.contains('c')) return true;
  }
  return false;
}

}  // namespace leasehold
