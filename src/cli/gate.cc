#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/commands.h"
#include "hook/aftermath.h"
#include "leasehold/write_gate.h"
#include "wire/gate_json.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr Duration kNoLimit = 24h * 365;

void show(const Call& call, const GateAnswer& answer) {
  if (call.out().json()) {
    call.out().document(gate_json(answer));
    return;
  }
  tell(call.out(), answer.notices);
  if (const auto* denied = std::get_if<Denied>(&answer.decision)) call.out().complain(denied->message);
}

Result<int> run(Call& call) {
  const auto timeout = call.arguments().duration("timeout");
  if (!timeout) return fail(timeout.error());
  const auto workspace = call.workspace(true, true);
  // Not managed: none of our business.
  if (!workspace && workspace.error().code == Code::not_found) return 0;
  if (!workspace) return fail(workspace.error());
  const auto paths = call.paths();
  if (!paths) return fail(paths.error());

  WriteGate gate(**workspace, call.caller(true), call.arguments().text("reason").value_or(""), call.cwd());
  const bool reads = call.arguments().has("read");
  const bool waits = call.arguments().has("wait") && !reads;
  const auto decided = reads   ? gate.read(*paths)
                       : waits ? gate.write_and_wait(*paths, timeout->value_or(kNoLimit),
                                                     [&](const GateAnswer& denial) { show(call, denial); })
                               : gate.write(*paths);
  if (!decided) return fail(decided.error());
  const auto* denied = std::get_if<Denied>(&decided->decision);
  // A denial it waited for in vain was shown before.
  const bool was_shown =
      waits && denied != nullptr && (denied->code == Code::retry_later || denied->code == Code::halted);
  if (const auto* allowed = std::get_if<Allowed>(&decided->decision); allowed != nullptr && allowed->granted)
    note_granted(**workspace, allowed->leases);
  if (!was_shown) show(call, *decided);
  return denied == nullptr ? Result<int>(0) : call.exit_status(denied->code);
}

constexpr OptionSpec kOptions[] = {
    {"--read", {}, "The files are only read: refused while another owner holds one exclusively"},
    {"--wait", {}, "When denied, wait for the retry, and once halted for an instruction"},
    {"--timeout", "DURATION", "With --wait: no longer than this"},
    {"--reason", "TEXT", "What for; others see it"},
    kNullOption,
};

constexpr Example kExamples[] = {
    {"lease gate src/a.ts && cp new.ts src/a.ts", "write it only if nobody else has it"},
    {"lease gate src/a.ts --wait", "denied, wait three minutes, and try once more"},
};

}  // namespace

const Command kGate = {
    .name = "gate",
    .synopsis = "PATH... [--read] [--wait [--timeout DURATION]] [--reason TEXT]",
    .summary = "Ask whether files may be written now, and lease them",
    .description =
        "What agents' hooks ask before each write. Silent and successful when the files are yours, or free "
        "and "
        "yours from now on. When another owner has one: denied, with one retry at a moment that never moves "
        "(180 s later); asked earlier, the same answer. Still held at the retry: a blocker, which an "
        "instruction ends (see lease-blockers(1)), or a lease got in another way; told to abandon it, "
        "nothing. Files outside of what Leasehold guards are let "
        "through.",
    .uses = Uses::owner,
    .operands = {"PATH", "A file that is about to be written; - reads a list from standard input", 1},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
