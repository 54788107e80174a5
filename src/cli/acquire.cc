#include "cli/acquiring.h"
#include "cli/commands.h"
#include "hook/aftermath.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const auto request = acquire_request(call);
  if (!request) return fail(request.error());
  const auto workspace = call.workspace();
  const auto answered = acquire(call, *request);
  if (!answered) return fail(answered.error());
  if (const auto* granted = std::get_if<Granted>(&answered->decision))
    note_granted(**workspace, granted->leases);
  return answer_or_give_back(call, *request, *answered);
}

constexpr Example kExamples[] = {
    {"lease acquire src/a.ts --reason 'rename the greeting'",
     "src/a.ts and its tests, at once or not at all"},
    {"lease acquire --subtree docs --mode shared --wait 5m",
     "all of docs for reading, as soon as nobody writes"},
    {"git diff -z --name-only --relative | lease acquire -0 -", "every changed file from here on down"},
    {"lease acquire port:3000", "anything else that one owner at a time may have"},
};

}  // namespace

// Its options are those of everything that acquires.
const Command kAcquire = {
    .name = "acquire",
    .synopsis = "PATH... [--subtree DIR]... [OPTION]...",
    .summary = "Lease files, all or none, with the tests of sources",
    .description =
        "Grants leases on all the files together, or refuses and says who is in the way, for how long, "
        "whether that owner is alive, and which command waits for it. Nobody else gets an overlapping lease "
        "until these are released, run out, or their owner is dead. Asking again for what is already yours "
        "extends it.\n\n"
        "The tests of source files come along (see lease-pairs(1)). Each grant has a fencing token, greater "
        "than every one before; lease check tells whether it is still current.",
    .uses = Uses::owner,
    .operands = {"PATH",
                 "A file, as the shell knows it; file:/src/a.ts counts from the workspace's root; "
                 "KIND:NAME is any other resource; - reads a list from standard input"},
    .options = acquire_options(),
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
