#include "hook/hook.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>

#include "cli/call.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "hook/hook_reply.h"
#include "util/variables.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using Moment = std::chrono::steady_clock::time_point;

// Below the time that lease init gives to a host for a decision, and far above what an answer takes. A host
// that does not end its input in time is answered by what it sent.
constexpr auto kTimeToAnswer = 3s;
constexpr auto kTimeToRead = 2s;

// What to say when time is up; for the signal handler. Nothing: the input is still being read.
std::optional<HookAnswer> late;

void answer_late(int) {
  [[maybe_unused]] auto written = write(STDOUT_FILENO, late->output.data(), late->output.size());
  written = write(STDERR_FILENO, late->complaint.data(), late->complaint.size());
  _exit(late->exit_status);
}

void answer_late_at(Moment then) {
  const auto left = std::chrono::ceil<std::chrono::microseconds>(then - std::chrono::steady_clock::now());
  const auto count = std::max<std::int64_t>(left.count(), 1);
  constexpr std::int64_t kSecond = 1'000'000;
  const itimerval timer = {.it_interval = {}, .it_value = {count / kSecond, count % kSecond}};
  std::signal(SIGALRM, answer_late);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// What came until its end or until then, or until it is more than a host would say. Nothing, if it cannot be
// read: that is no JSON, and answered as such.
std::string read_input(Moment until) {
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= kPayloadBytesMax) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&input, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) == 0) return text;
    const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count == 0) return text;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR && errno != EAGAIN) return {};
  }
  return text;
}

HookAnswer answer_to_input(HookHost host) {
  const Moment began = std::chrono::steady_clock::now();
  const std::string payload = read_input(began + kTimeToRead);
  remember_input(payload);
  const Variables variables = own_variable;
  HookCall hook(host, payload, current_folder().value_or("/"), variables);
  late = hook.late_answer();
  answer_late_at(began + kTimeToAnswer);
  return hook.answer();
}

// No memory, or no thread: what nobody could check is not written.
HookAnswer answer_without_means(HookHost host, const std::exception& missing) {
  if (late) return *late;  // It knows what is asked, and the settings.
  return denial(host, "PreToolUse",
                fmt::format("Not checked, so not written: lease cannot go on ({}). Look at the limits of "
                            "processes here (ulimit -a), and try again.",
                            missing.what()));
}

// Never any status but that of the answer: for a host, other numbers mean other things.
Result<int> run(Call& call) {
  const auto host = host_named(call.arguments().operands().front());
  if (!host)
    return fail(Code::invalid_argument, "There is no such host. Name one of: " + host_words(", ") + ".");
  HookAnswer answer;
  try {
    answer = answer_to_input(*host);
  } catch (const std::exception& missing) {
    answer = answer_without_means(*host, missing);
  }
  alarm(0);
  if (!answer.output.empty()) call.out().print(answer.output + '\n');
  // As it is, for it is what the model reads.
  if (!answer.complaint.empty()) write_error(answer.complaint + '\n');
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
        "the gate: allowed is silence, or what was handed over or is asked back meanwhile; denied tells the "
        "model who has the file and what to do instead. The "
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
