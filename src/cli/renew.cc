#include "cli/answers.h"
#include "cli/commands.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const auto ttl = call.arguments().duration("ttl");
  if (!ttl) return fail(ttl.error());
  const auto current = token(call.arguments());
  if (!current) return fail(current.error());
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  auto which = selection(call);
  if (!which) return fail(which.error());
  const bool is_heartbeat = which->all || which->pr_id;
  const auto client = (*workspace)->client();
  const auto renewed = in_pieces(*std::move(which), [&](Selection some) {
    return client->renew({.caller = call.caller(), .which = std::move(some), .token = *current, .ttl = *ttl});
  });
  if (!renewed) return fail(renewed.error());
  return is_heartbeat ? answer_heartbeat(call, *renewed) : answer(call, *renewed, "renewed");
}

constexpr OptionSpec kOptions[] = {
    kIdOption,    kAllOption,
    kPrOption,    {"--ttl", "DURATION", "How long they last from now; as long as before if not given"},
    kTokenOption, kNullOption,
};

constexpr Example kExamples[] = {{"lease renew --all", "everything of this session"},
                                 {"lease renew src/a.ts --ttl 20m", "one file, for longer"}};

}  // namespace

const Command kRenew = {
    .name = "renew",
    .synopsis = "PATH... | --id ID... | --all | --pr ID  [--ttl DURATION] [--token N]",
    .summary = "Make leases last longer, counted from now",
    .description =
        "Extends leases of your own; their tokens stay. A lease that is over is not revived, even if the "
        "path "
        "is free: somebody may have held it in between. Acquire it again. With --all it also fails (79) when "
        "a lease "
        "was lost since you were last told, and (66) when you hold nothing, so that a loop ends.",
    .uses = Uses::owner,
    .operands = {"PATH", "A file as in lease acquire; - reads a list from standard input"},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
