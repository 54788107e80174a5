// upgrade and downgrade: another mode for the same lease.
#include "cli/acquiring.h"
#include "cli/answers.h"
#include "cli/commands.h"

namespace leasehold {
namespace {

Result<int> run_upgrade(Call& call) {
  auto request = acquire_request(call, false);
  if (!request) return fail(request.error());
  if (request->wait == Duration::zero()) request->wait.reset();
  const auto answered = upgrade(call, *request);
  if (!answered) return fail(answered.error());
  return answer_or_give_back(call, *request, *answered);
}

Result<int> run_downgrade(Call& call) {
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  auto which = selection(call);
  if (!which) return fail(which.error());
  const auto current = token(call.arguments());
  if (!current) return fail(current.error());
  const auto done = (*workspace)
                        ->client()
                        ->downgrade({.caller = call.caller(), .which = *std::move(which), .token = *current});
  if (!done) return fail(done.error());
  return answer(call, *done, "shared now", "shared already");
}

constexpr OptionSpec kUpgradeOptions[] = {
    {"--subtree", "DIR", "A folder that you hold as a whole", {}, true},
    {"--ttl", "DURATION", "How long the leases last from now"},
    {"--wait", "DURATION", "Wait so long for the others who read to be done"},
    {"--reason", "TEXT", "What for; others see it"},
    kConflictExitOption,
    kNullOption,
};
constexpr OptionSpec kDowngradeOptions[] = {kIdOption, kAllOption, kPrOption, kTokenOption, kNullOption};

constexpr Example kUpgradeExamples[] = {{"lease upgrade src/a.ts --wait 1m", "from reading to writing"}};
constexpr Example kDowngradeExamples[] = {{"lease downgrade src/a.ts", "others may read it too now"}};

}  // namespace

const Command kUpgrade = {
    .name = "upgrade",
    .synopsis = "PATH... [--subtree DIR]... [--wait DURATION]",
    .summary = "Turn shared leases into exclusive ones, in place",
    .description =
        "Makes shared leases of your own exclusive, under a new token; what came in between would be seen. "
        "Goes "
        "before ordinary waiters. A second one who wants to upgrade the same file is refused (deadlock): "
        "release, and acquire again.",
    .uses = Uses::owner,
    .operands = {"PATH", "A file that you hold"},
    .options = kUpgradeOptions,
    .examples = kUpgradeExamples,
    .run = run_upgrade,
};

const Command kDowngrade = {
    .name = "downgrade",
    .synopsis = "PATH... | --id ID... | --all | --pr ID  [--token N]",
    .summary = "Turn exclusive leases into shared ones, in place",
    .description = "Lets others read along; the token stays. What is shared already stays so.",
    .uses = Uses::owner,
    .operands = {"PATH", "A file that you hold; - reads a list from standard input"},
    .options = kDowngradeOptions,
    .examples = kDowngradeExamples,
    .run = run_downgrade,
};

}  // namespace leasehold
