#include <fmt/format.h>

#include "cli/call.h"
#include "cli/commands.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  const auto swept = (*workspace)->client()->cleanup();
  if (!swept) return fail(swept.error());
  if (call.out().json()) {
    call.out().document(
        {{"ended", swept->ended}, {"dropped", swept->dropped}, {"forgotten", swept->forgotten}});
  } else {
    call.out().print(fmt::format("{} ended, {} no longer waiting, {} forgotten\n", swept->ended,
                                 swept->dropped, swept->forgotten));
  }
  return 0;
}

}  // namespace

const Command kGc = {
    .name = "gc",
    .synopsis = "",
    .summary = "Record what ended and forget what nobody needs",
    .description =
        "Looks at every holder's process, records leases and waiting requests that are over, and forgets "
        "ended "
        "leases after an hour and history after its retention. Nothing depends on it: what is over is in "
        "nobody's "
        "way, and every acquire does some of this by the way.",
    .run = run,
};

}  // namespace leasehold
