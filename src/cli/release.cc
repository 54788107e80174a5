#include "cli/answers.h"
#include "cli/commands.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const auto workspace = call.workspace();
  // Nothing was ever leased here, and so nothing is left to give back.
  if (!workspace && workspace.error().code == Code::not_found && call.arguments().has("all"))
    return answer(call, Outcomes{}, "released");
  if (!workspace) return fail(workspace.error());
  auto which = selection(call);
  if (!which) return fail(which.error());
  const auto current = token(call.arguments());
  if (!current) return fail(current.error());
  const auto client = (*workspace)->client();
  const auto released = in_pieces(*std::move(which), [&](Selection some) {
    return client->release({.caller = call.caller(), .which = std::move(some), .token = *current});
  });
  if (!released) return fail(released.error());
  return answer(call, *released, "released");
}

constexpr OptionSpec kOptions[] = {
    kIdOption, kAllOption, kPrOption, kTokenOption, kNullOption,
};

constexpr Example kExamples[] = {
    {"lease release src/a.ts", "and the tests that came along with it"},
    {"lease release --all", "everything of this session"},
};

}  // namespace

const Command kRelease = {
    .name = "release",
    .synopsis = "PATH... | --id ID... | --all | --pr ID  [--token N]",
    .summary = "Give leases back before they run out",
    .description =
        "Releases leases of your own; whoever waits for them goes on at once. With a path go the tests that "
        "pairing added for it, unless they were asked for by themselves. Releasing what is over already is "
        "no mistake.",
    .uses = Uses::owner,
    .operands = {"PATH", "A file as in lease acquire; - reads a list from standard input"},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
