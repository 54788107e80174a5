#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "cli/answers.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "hook/aftermath.h"
#include "leasehold/write_gate.h"
#include "model/key.h"
#include "util/shell_word.h"
#include "util/variables.h"
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

// The engine ends a denial with the command that waits in line, but only the command line knows for whom it
// asked and where: as somebody else, the line would end in front of one's own lease.
GateAnswer with_own_options(const Call& call, const std::optional<std::string>& folder, GateAnswer answer) {
  auto* const denied = std::get_if<Denied>(&answer.decision);
  if (denied == nullptr || denied->code != Code::retry_later) return answer;
  if (folder) denied->message += " -C " + shell_word(*folder);
  denied->message += call.shared_options();
  return answer;
}

// Each file is guarded by the workspace it lies in, wherever one stands: as in hooks.
struct Part {
  Workspace workspace;
  std::vector<std::string> paths;
};

Result<std::vector<Part>> parts_of(const std::vector<std::string>& paths, const std::string& place) {
  auto here = find_workspace(place);
  if (!here) return fail(here.error());
  std::vector<Part> parts = {{*std::move(here), {}}};
  const std::string top = parts.front().workspace.root;
  for (const std::string& given : paths) {
    // A key may lead into a tree of its own, where it is another.
    constexpr std::string_view kFile = "file:/";
    const bool is_key = given.starts_with(kFile);
    const std::string file = is_key                   ? fmt::format("{}/{}", top, given.substr(kFile.size()))
                             : given.starts_with('/') ? given
                                                      : fmt::format("{}/{}", place, given);
    auto tree = is_resource(given) ? Result<Workspace>(parts.front().workspace) : find_workspace(file);
    if (!tree) return fail(tree.error());
    const std::string& path = is_key && tree->root != top ? file : given;
    auto part = std::ranges::find(parts, tree->root, [](const Part& one) { return one.workspace.root; });
    if (!tree->managed) {
      part = parts.begin();  // Nobody else's.
    } else if (part == parts.end()) {
      part = parts.insert(part, {*std::move(tree), {}});
    }
    part->paths.push_back(path);
  }
  return parts;
}

Result<GateAnswer> wait(const Call& call, WriteGate& gate, const std::vector<std::string>& paths,
                        const std::optional<std::string>& folder, Duration at_most) {
  const Progress progress(call.out(), [] { return "Waiting for the retry, or for an instruction"; });
  const auto shown = [&](const GateAnswer& denial) { show(call, with_own_options(call, folder, denial)); };
  // Of documents there is one, at the end.
  return call.out().json() ? gate.write_and_wait(paths, at_most, {})
                           : gate.write_and_wait(paths, at_most, shown);
}

// `folder`: what -C has to say for a command that means this workspace.
Result<GateAnswer> ask(Call& call, OpenWorkspace& workspace, const std::vector<std::string>& paths,
                       const std::string& place, const std::optional<std::string>& folder, Duration at_most) {
  Caller caller = call.caller();
  caller.holder.process = workspace.caller_process();
  WriteGate gate(workspace, std::move(caller), call.arguments().text("reason").value_or(""), place);
  if (call.arguments().has("read")) return gate.read(paths);
  auto answer = call.arguments().has("wait") ? wait(call, gate, paths, folder, at_most) : gate.write(paths);
  const auto* allowed = answer ? std::get_if<Allowed>(&answer->decision) : nullptr;
  if (allowed != nullptr && allowed->granted) note_granted(workspace, allowed->leases);
  return answer ? with_own_options(call, folder, *std::move(answer)) : answer;
}

Result<GateAnswer> ask_here(Call& call, const Part& part, const std::string& place, Duration at_most) {
  const auto here = call.workspace(true, true);
  if (!here && here.error().code == Code::not_found) return GateAnswer{};
  return here ? ask(call, **here, part.paths, place, call.arguments().text("workspace"), at_most)
              : fail(here.error());
}

Result<GateAnswer> ask_elsewhere(Call& call, const Part& part, const std::string& place, Duration at_most) {
  const auto there = call.other_workspace(part.workspace);
  return there ? ask(call, **there, part.paths, place, part.workspace.root, at_most) : fail(there.error());
}

// Whether these files are written though nobody could be asked about them. A call that is wrong is none of
// that.
bool passes_unchecked(const Call& call, const std::string& place, const Error& error) {
  const bool is_wrong_call = error.code == Code::invalid_path || error.code == Code::invalid_argument;
  if (is_wrong_call || !lets_unchecked_writes_pass({.place = place, .environment = own_variable}))
    return false;
  call.out().note(fmt::format("This write was not checked (gate_fail_open): {}", error.message));
  return true;
}

Result<int> run(Call& call) {
  const auto timeout = call.arguments().duration("timeout");
  if (!timeout) return fail(timeout.error());
  if (*timeout && !call.arguments().has("wait"))
    return fail(Code::invalid_argument, "--timeout is for --wait: without it, the gate answers at once.");
  const auto paths = call.paths();
  if (!paths) return fail(paths.error());
  const auto place = call.place();
  if (!place) return fail(place.error());
  const auto parts = parts_of(*paths, *place);
  GateAnswer all;
  if (!parts && passes_unchecked(call, *place, parts.error())) {
    show(call, all);
    return 0;
  }
  if (!parts) return fail(parts.error());

  for (const Part& part : *parts) {
    if (part.paths.empty()) continue;
    const bool is_here = &part == &parts->front();
    auto decided = (is_here ? ask_here : ask_elsewhere)(call, part, *place, timeout->value_or(kNoLimit));
    if (!decided && passes_unchecked(call, part.workspace.root, decided.error())) continue;
    if (!decided) return fail(decided.error());
    if (const auto* denied = std::get_if<Denied>(&decided->decision)) {
      // A denial it waited for in vain was shown before.
      const bool waited = call.arguments().has("wait") && !call.arguments().has("read");
      const bool was_shown =
          waited && !call.out().json() && (denied->code == Code::retry_later || denied->code == Code::halted);
      if (!was_shown) show(call, *decided);
      return call.exit_status(denied->code);
    }
    auto& allowed = std::get<Allowed>(decided->decision);
    auto& so_far = std::get<Allowed>(all.decision);
    so_far.granted = so_far.granted || allowed.granted;
    std::ranges::move(allowed.leases, std::back_inserter(so_far.leases));
    std::ranges::move(decided->notices, std::back_inserter(all.notices));
    all.at = decided->at;
    all.wall = decided->wall;
  }
  show(call, all);
  return 0;
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
