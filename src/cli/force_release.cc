#include "cli/answers.h"
#include "cli/commands.h"
#include "cli/lease_names.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const Arguments& arguments = call.arguments();
  const auto recall = arguments.duration("recall");
  if (!recall) return fail(recall.error());
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  Selection which = {.agent_id = arguments.text("agent")};
  for (std::string& id : arguments.texts("id")) which.ids.push_back({std::move(id)});
  auto paths = call.paths();
  if (!paths) return fail(paths.error());
  auto keys = keys_of_leases(call, *paths, false);
  if (!keys) return fail(keys.error());
  which.paths = *std::move(keys);
  if ((which.agent_id ? 1 : 0) + (which.paths.empty() ? 0 : 1) + (which.ids.empty() ? 0 : 1) != 1) {
    return fail(Code::invalid_argument,
                "Name paths, or give one of --agent and --id. See: lease help force-release");
  }
  const auto ended = (*workspace)
                         ->client()
                         ->force_release({.actor = call.identity().owner.agent_id,
                                          .which = std::move(which),
                                          .reason = arguments.text("reason").value_or(""),
                                          .recall = *recall});
  if (!ended) return fail(ended.error());
  return answer(call, *ended, *recall ? "asked back" : "ended");
}

constexpr OptionSpec kOptions[] = {
    {"--agent", "NAME", "All that this agent holds"},
    kIdOption,
    {"--reason", "TEXT", "Why; it is needed, and the owner is told"},
    {"--recall", "DURATION", "Ask the owner first, and end the leases after this long"},
    kNullOption,
};

constexpr Example kExamples[] = {
    {"lease force-release src/a.ts --reason 'agent hangs since noon'", "one file, at once"},
    {"lease force-release --agent bob --recall 1m --reason 'release day'", "all of bob's, in a minute"},
};

}  // namespace

const Command kForceRelease = {
    .name = "force-release",
    .synopsis = "(PATH... | --agent NAME | --id ID...) --reason TEXT [--recall DURATION]",
    .summary = "End leases of others, for operators",
    .description =
        "Ends leases whoever holds them, with the pairs that came along. The reason goes into history, and "
        "the "
        "owner is told at its next call. Its token is stale: what it writes with lease check in front is "
        "refused.",
    .operands = {"PATH", "A file that somebody holds; - reads a list from standard input"},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
