#include "cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/did_you_mean.h"
#include "cli/mcp.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr std::array kCommands = {
    &kAcquire,      &kRelease, &kRenew,   &kCheck,    &kRun,        &kUpgrade, &kDowngrade, &kTransfer,
    &kForceRelease, &kInit,    &kGate,    &kBlockers, &kStatus,     &kLs,      &kWatch,     &kHistory,
    &kAgents,       &kPairs,   &kSession, &kConfig,   &kGc,         &kDoctor,  &kServe,     &kToken,
    &kRepoLock,     &kHook,    &kGitHook, &kMcp,      &kCompletion, &kDemo,    &kVersion,   &kHelp,
};

constexpr OptionSpec kOwnerOptions[] = {
    {"--agent", "NAME", "Act for this agent instead of LEASE_AGENT, the agent around, or user@host"},
    {"--session", "ID", "Act in this session instead of LEASE_SESSION, or the agent's own"},
};

constexpr OptionSpec kWorkspaceOptions[] = {
    {"-C,--workspace", "DIR", "Work as if started in this folder"},
    {"--store", "URL", "Use this store (LEASE_STORE)"},
    {"--profile", "NAME", "Use the defaults of this profile (LEASE_PROFILE)", "agent session job"},
    {"--set", "NAME=VALUE", "Set any other setting for this call (see: lease config list)", {}, true},
};

constexpr OptionSpec kCommonOptions[] = {
    {"--json", {}, "Answer with one JSON document, errors too"},
    {"--color", "WHEN", "Colour the output", "auto always never"},
    {"-q,--quiet", {}, "Say nothing but errors; the exit status tells"},
    {"-v,--verbose", {}, "Say more, and on standard error what happens to leases"},
    {"-h,--help", {}, "Print this"},
};

// Filters and targets of some commands are spelled like an owner.
bool has_own(const Command& command, const OptionSpec& shared) {
  return std::ranges::any_of(command.options,
                             [&](const OptionSpec& own) { return own.names == shared.names; });
}

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  if (name == kKeepSession.name) return &kKeepSession;  // For our own hooks; nobody needs to know of it.
  const auto* const found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : *found;
}

std::size_t leading_options(std::span<const std::string_view> words) {
  const auto find = [](std::string_view name) -> const OptionSpec* {
    for (const std::span<const OptionSpec> options :
         {std::span<const OptionSpec>(kCommonOptions), std::span<const OptionSpec>(kWorkspaceOptions)}) {
      for (const OptionSpec& option : options) {
        const std::size_t comma = option.names.find(',');
        if (name == option.names.substr(0, comma)) return &option;
        if (comma != std::string_view::npos && name == option.names.substr(comma + 1)) return &option;
      }
    }
    return nullptr;
  };
  std::size_t count = 0;
  while (count < words.size()) {
    const std::size_t equals = words[count].find('=');
    const OptionSpec* const option = find(words[count].substr(0, equals));
    if (option == nullptr) break;
    count += option->value.empty() || equals != std::string_view::npos ? 1 : 2;
  }
  return std::min(count, words.size());
}

Error no_such_command(std::string_view name) {
  // Enough of it to be recognised: it may be a whole file that was passed by mistake.
  constexpr std::size_t kShownBytes = 40;
  std::array<std::string_view, kCommands.size()> names;
  std::ranges::transform(kCommands, names.begin(), &Command::name);
  return {Code::invalid_argument,
          fmt::format("There is no command {}{}.{} See: lease help", in_quotes(name.substr(0, kShownBytes)),
                      name.size() > kShownBytes ? "..." : "", did_you_mean(name, names))};
}

OptionGroups option_groups(const Command& command) {
  OptionGroups result = {{{"Options", command.options}, {}, {}, {"Common options", kCommonOptions}}};
  if (command.uses == Uses::owner && !has_own(command, kOwnerOptions[0]))
    result.groups[1] = {"Who acts", kOwnerOptions};
  if (command.uses != Uses::nothing) result.groups[2] = {"Where", kWorkspaceOptions};
  return result;
}

}  // namespace leasehold
