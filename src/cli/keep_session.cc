#include <cstdlib>

#include "cli/call.h"
#include "cli/commands.h"
#include "hook/session_keeper.h"
#include "util/variables.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const auto kept = keep_session(call.arguments().operands(), {.environment = own_variable});
  if (!kept) return fail(kept.error());
  return 0;
}

}  // namespace

const Command kKeepSession = {
    .name = "keep-session",
    .synopsis = "PLACE SESSION PID START-TIME",
    .summary = "Renew a session's leases while its agent lives",
    .description = "Started by lease hook, with the file that tells that it runs as descriptor 3.",
    .uses = Uses::nothing,
    .operands = {"OPERAND", "The workspace, the session, and the agent's process", 4, 4},
    .run = run,
};

}  // namespace leasehold
