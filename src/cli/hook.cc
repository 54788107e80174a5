#include "hook/hook.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli/call.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "util/read_file.h"

namespace leasehold {
namespace {

// Below the time that lease init gives to a host for a decision, and far above what an answer takes.
constexpr unsigned kSecondsToAnswer = 3;

// What to say when time is up; for the signal handler.
HookAnswer late;

void answer_late(int) {
  [[maybe_unused]] auto written = write(STDOUT_FILENO, late.output.data(), late.output.size());
  written = write(STDERR_FILENO, late.complaint.data(), late.complaint.size());
  _exit(late.exit_status);
}

// More than any tool call that a host would pass on.
constexpr std::size_t kPayloadMax = std::size_t{64} << 20;

// Never any status but that of the answer: for a host, other numbers mean other things.
Result<int> run(Call& call) {
  const auto host = host_named(call.arguments().operands().front());
  if (!host)
    return fail(Code::invalid_argument, "There is no such host. Name one of: " + host_words(", ") + ".");
  const Variables variables = [](const char* name) -> const char* { return std::getenv(name); };
  // What cannot be read is no JSON, and answered as such.
  const std::string payload = read_to_end(STDIN_FILENO, kPayloadMax).value_or("");
  remember_input(payload);
  HookCall hook(*host, payload, current_folder().value_or("/"), variables);
  late = hook.late_answer();
  std::signal(SIGALRM, answer_late);
  alarm(kSecondsToAnswer);
  const HookAnswer answer = hook.answer();
  alarm(0);
  if (!answer.output.empty()) call.out().print(answer.output + '\n');
  if (!answer.complaint.empty()) call.out().complain(answer.complaint);
  if (!answer.problem.empty() && call.out().verbose()) call.out().complain(answer.problem);
  return answer.exit_status;
}

constexpr Example kExamples[] = {
    {"lease hook claude-code < call.json", "what lease init writes into the host's settings"},
};

}  // namespace

const Command kHook = {
    .name = "hook",
    .synopsis = "HOST",
    .summary = "Answer a coding agent's hook",
    .description =
        "Reads one event of the host on standard input and answers in its own dialect. Before a write it "
        "asks "
        "the gate: allowed is silence, denied tells the model who has the file and what to do instead. The "
        "end of "
        "a turn, a subagent or a session moves or ends leases. In a folder that is not managed everything "
        "goes on. "
        "A write that cannot be checked is denied, unless gate_fail_open is set.",
    .uses = Uses::nothing,
    .operands = {"HOST", "Whose hook this is", 1, 1,
                 "claude-code codex gemini copilot cursor opencode windsurf cline"},
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
