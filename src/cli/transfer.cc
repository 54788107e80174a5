#include "cli/answers.h"
#include "cli/commands.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const Arguments& arguments = call.arguments();
  const auto to = arguments.text("to");
  if (!to) return fail(Code::invalid_argument, "--to is missing: the agent that gets the leases.");
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  auto which = selection(call);
  if (!which) return fail(which.error());
  // Who gets it is somebody else, wherever that one runs: only time and its own renewals keep it.
  const Caller caller = call.caller();
  Holder receiver = {.owner = {*to, arguments.text("to-session").value_or(caller.holder.owner.session_id)},
                     .pr_id = arguments.text("to-pr").value_or(""),
                     .host = {},
                     .process = {}};
  const auto moved = (*workspace)
                         ->client()
                         ->transfer({.caller = caller,
                                     .which = *std::move(which),
                                     .to = std::move(receiver),
                                     .note = arguments.text("note").value_or(""),
                                     .as_operator = arguments.has("operator")});
  if (!moved) return fail(moved.error());
  return answer(call, *moved, "handed over");
}

constexpr OptionSpec kOptions[] = {
    {"--to", "NAME", "The agent that gets them"},
    {"--to-session", "ID", "Its session; if not given, yours"},
    {"--to-pr", "ID", "The pull request they are for from now on"},
    {"--note", "TEXT", "What it should know; told with its next call"},
    {"--operator", {}, "Move leases of others"},
    kIdOption,
    kAllOption,
    kPrOption,
    kNullOption,
};

constexpr Example kExamples[] = {
    {"lease transfer --to bob --to-session s2 --pr 42 --note 'tests are red'", "all of a pull request"}};

}  // namespace

const Command kTransfer = {
    .name = "transfer",
    .synopsis = "--to NAME (PATH... | --id ID... | --all | --pr ID) [--note TEXT]",
    .summary = "Hand leases to another agent",
    .description =
        "The leases go over at once, under a new token: yours is stale from now on. The receiver is told, "
        "with "
        "your note, at its next call.",
    .uses = Uses::owner,
    .operands = {"PATH", "A file that you hold; - reads a list from standard input"},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
